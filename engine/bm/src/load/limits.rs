//! Limits on the resources of a program file. They keep a hostile JSON from exhausting memory or time; no useful program comes
//! near them.

/// Upper limits. They are checked at load, except `max_steps` and `max_parser_steps`, which limit one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Size of the JSON text in bytes. Default: 64 MiB.
    pub max_json_bytes: usize,
    /// Nesting of one expression. Default: 100. p4c stays far below; the loader's recursion has this depth.
    pub max_expression_depth: usize,
    /// Objects of one kind: headers, actions, tables, parse states ... Default: 65 536.
    pub max_objects: usize,
    /// Words of one packet's headers and metadata, with all stack elements. Default: 1 048 576.
    pub max_phv_words: usize,
    /// Instructions of the whole program. Default: 4 194 304.
    pub max_instructions: usize,
    /// Cells of all registers, counters and meters together. Default: 67 108 864.
    pub max_cells: usize,
    /// Width of a field, parameter or register cell in bits, at most 65 535. Default: 2048, p4c's own limit. Intermediate
    /// values may have up to 8320 bits.
    pub max_width: u32,
    /// Backward jumps and table applications in one pipeline run. Default: 65 536.
    pub max_steps: u32,
    /// Parse states entered by one packet. Default: 65 536.
    pub max_parser_steps: u32,
}

impl Limits {
    /// Returns [`Limits::max_width`], or the maximum width of a field if that is less.
    pub(crate) fn widest(&self) -> u64 {
        u64::from(self.max_width.min(u32::from(u16::MAX)))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_json_bytes: 64 << 20,
            max_expression_depth: 100,
            max_objects: 65_536,
            max_phv_words: 1 << 20,
            max_instructions: 1 << 22,
            max_cells: 1 << 26,
            max_width: 2048,
            max_steps: 65_536,
            max_parser_steps: 65_536,
        }
    }
}
