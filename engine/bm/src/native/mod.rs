//! A program's instructions as native code, made by Cranelift when the first [`crate::State`] of the program is. Not
//! another semantics: `run::execute` interprets the same instructions and is the reference, and runs them where
//! code is not compiled.
//!
//! Arithmetic, branches, register accesses, extraction and deparsing become machine code over the packet's slot array;
//! tables and cold instructions call back into `run`. Every slot, temporaries included, is left as the
//! interpreter leaves it.
//!
//! `translate` and `straight` make the code of instructions, `layout` that of headers; `code` holds it. It knows programs and
//! how cells lie in memory, but no packet: `run::enter` enters it and answers its calls, by what `frame` says.

mod code;
mod frame;
mod layout;
mod straight;
#[cfg(test)]
mod tests;
mod translate;

use cranelift_codegen::ir::{types, AbiParam, Endianness, Function, Signature};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::Context;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{default_libcall_names, FuncId, Module};

pub(crate) use code::{Entry, Writer};
pub(crate) use frame::{status, Frame, NO_ACTION};

use crate::program::{Calculation, Pc, Program};
use layout::Part;

/// Native code of one program.
pub(crate) struct Native {
    /// By instruction: where a parser, pipeline or condition starts.
    entries: Vec<Option<Entry>>,
    deparsers: Vec<Option<Writer>>,
    calculations: Vec<Option<Writer>>,
    selectors: Vec<Option<Writer>>,
    /// Owns the memory of the code.
    _code: code::Code,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Native({} entries)", self.entries.iter().flatten().count())
    }
}

impl Native {
    /// Compiles a program; `None` where the machine has no code generator or the code cannot be placed.
    pub(crate) fn compile(program: &Program) -> Option<Native> {
        let mut maker = Maker::new()?;
        let starts = program.parsers().iter().chain(program.pipelines()).map(|start| start.pc);
        let conditions = program.checksums().iter().filter_map(|checksum| checksum.condition);
        let mut entries = Vec::new();
        for pc in starts.chain(conditions) {
            entries.extend(maker.entry(program, pc).map(|code| (pc, code)));
        }
        let deparsers: Vec<_> = program
            .deparsers()
            .iter()
            .map(|d| maker.writer(program, &layout::deparsed(program, d)))
            .collect();
        let mut covered = |calculation: &Calculation| {
            layout::covered(program, calculation).and_then(|parts| maker.writer(program, &parts))
        };
        let calculations: Vec<_> = program.calculations().iter().map(&mut covered).collect();
        let selectors: Vec<_> =
            program.selectors().iter().map(|s| s.as_ref().and_then(&mut covered)).collect();

        maker.module.finalize_definitions().ok()?;
        let code = code::Code::new(maker.module);
        let mut by_pc = vec![None; program.ops().len()];
        for (pc, id) in entries {
            by_pc[pc as usize] = Some(Entry::new(&code, id, program));
        }
        let placed = |writers: Vec<Option<(FuncId, usize)>>| {
            let place = |(id, bytes)| Writer::new(&code, id, bytes, program);
            writers.into_iter().map(|writer| writer.map(place)).collect()
        };
        Some(Native {
            entries: by_pc,
            deparsers: placed(deparsers),
            calculations: placed(calculations),
            selectors: placed(selectors),
            _code: code,
        })
    }

    /// Returns the code that starts at an instruction.
    #[inline]
    pub(crate) fn at(&self, pc: Pc) -> Option<&Entry> {
        self.entries[pc as usize].as_ref()
    }

    /// Returns the code that writes a deparser's headers.
    #[inline]
    pub(crate) fn deparser(&self, id: u32) -> Option<&Writer> {
        self.deparsers[id as usize].as_ref()
    }

    /// Returns the code that writes what a calculation covers, without the payload.
    #[inline]
    pub(crate) fn calculation(&self, id: u32) -> Option<&Writer> {
        self.calculations[id as usize].as_ref()
    }

    /// Returns the code that writes what the selector of an action profile covers.
    #[inline]
    pub(crate) fn selector(&self, profile: usize) -> Option<&Writer> {
        self.selectors[profile].as_ref()
    }
}

/// Where functions are made.
struct Maker {
    module: JITModule,
    context: Context,
    frontend: FunctionBuilderContext,
}

impl Maker {
    fn new() -> Option<Maker> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ] {
            flags.set(name, value).ok()?;
        }
        let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
        // Packets are read by words whose bytes are then swapped.
        if isa.endianness() != Endianness::Little || isa.pointer_type() != types::I64 {
            return None;
        }
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let context = module.make_context();
        Some(Maker { module, context, frontend: FunctionBuilderContext::new() })
    }

    /// Returns the code from `pc` to the end.
    fn entry(&mut self, program: &Program, pc: Pc) -> Option<FuncId> {
        self.function(&[types::I64, types::I64, types::I32], |builder, call_conv| {
            translate::translate(program, pc, builder, call_conv)
        })
    }

    /// Compiles a function that writes parts one after the other. Returns it with the maximum number of bytes that it writes.
    fn writer(&mut self, program: &Program, parts: &[Part]) -> Option<(FuncId, usize)> {
        let bytes = parts.iter().map(Part::bytes).sum();
        let config = self.module.target_config();
        let made = self.function(&[types::I64; 3], |builder, _| {
            layout::write_parts(program, parts, config, builder);
            Some(())
        });
        made.map(|id| (id, bytes))
    }

    /// Makes a function of these parameters that returns a 64-bit number.
    fn function(
        &mut self,
        params: &[types::Type],
        body: impl FnOnce(FunctionBuilder<'_>, &Signature) -> Option<()>,
    ) -> Option<FuncId> {
        let mut signature = self.module.make_signature();
        signature.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.push(AbiParam::new(types::I64));
        self.context.func = Function::with_name_signature(Default::default(), signature.clone());
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.frontend);
        if body(builder, &signature).is_none() {
            // What is half built is left behind.
            self.frontend = FunctionBuilderContext::new();
            self.module.clear_context(&mut self.context);
            return None;
        }
        let id = self.module.declare_anonymous_function(&signature).ok()?;
        let defined = self.module.define_function(id, &mut self.context);
        self.module.clear_context(&mut self.context);
        defined.is_ok().then_some(id)
    }
}
