//! Conversions between Python and the engine: from the values of `eeon_engine.values` to `bm`'s types, and back.

use bm::{
    ActionChoice, ActionSet, ClientAction, ClientGroup, CounterValue, CrcParameters, DefaultEntry, Entry,
    GroupInfo, MatchKeyParam, MemberInfo, MeterRate, MtAction, Share,
};
#[cfg(all(target_os = "linux", feature = "live-ports"))]
use live::LiveCounts;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::inspect::{PyStaticConstant, PyStaticExpr};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyTuple;
use pyo3::{type_hint_identifier, type_hint_subscript, Borrowed, PyTypeCheck};
use simple_switch::{NodeHandle, PortStats, SwitchStats};

/// An argument from Python.
pub(crate) trait Given {
    /// The same for a call of the engine.
    type For<'a>
    where
        Self: 'a;
    fn given(&self) -> Self::For<'_>;
}

/// A value of the engine.
pub(crate) trait Told {
    /// The same for Python.
    type As;
    fn told(self) -> Self::As;
}

macro_rules! equal_on_both_sides {
    ($($kind:ty)*) => {$(
        impl Given for $kind {
            type For<'a> = $kind;
            fn given(&self) -> $kind {
                *self
            }
        }

        impl Told for $kind {
            type As = $kind;
            fn told(self) -> $kind {
                self
            }
        }
    )*};
}

equal_on_both_sides! { () bool u8 u16 u32 u64 usize }

impl<T: Told> Told for Vec<T> {
    type As = Vec<T::As>;
    fn told(self) -> Self::As {
        self.into_iter().map(|item| item.told()).collect()
    }
}

impl<T: Told> Told for Option<T> {
    type As = Option<T::As>;
    fn told(self) -> Self::As {
        self.map(|value| value.told())
    }
}

impl<A: Told, B: Told> Told for (A, B) {
    type As = (A::As, B::As);
    fn told(self) -> Self::As {
        (self.0.told(), self.1.told())
    }
}

macro_rules! told {
    ($($kind:ty as $made:ty, |$value:pat_param| $told:expr;)*) => {$(
        impl Told for $kind {
            type As = $made;
            fn told(self) -> $made {
                let $value = self;
                $told
            }
        }
    )*};
}

told! {
    NodeHandle as u32, |node| node.0;
    MatchKeyParam as values::MatchParam, |param| values::MatchParam(param);
    MtAction as values::EntryAction, |action| values::EntryAction(action);
    ClientAction as values::ClientAction, |action| values::ClientAction(action);
    CounterValue as values::CounterCell, |value| values::CounterCell((value.bytes, value.packets));
    MeterRate as values::MeterRate, |rate| values::MeterRate((rate.info_rate, rate.burst_size));
    Share as values::Share, |share| values::Share((share.member, share.weight, share.watch));
    DefaultEntry<MtAction> as Option<values::EntryAction>, |default| default.action.told();
    DefaultEntry<ClientAction> as values::ClientDefault,
        |default| values::ClientDefault((default.action.told(), default.note, default.is_set));
    MemberInfo<u64> as values::Member, |member| values::Member((member.number, member.action, member.data));
    MemberInfo<u32> as values::ClientMember,
        |member| values::ClientMember((member.number, member.action, member.data));
    GroupInfo as values::Group, |group| values::Group((group.handle, group.members));
    ClientGroup as values::ClientGroup,
        |group| values::ClientGroup((group.id, group.members.told(), group.note));
    Entry<MtAction> as values::Entry,
        |entry| values::Entry((entry.handle, entry.key.told(), entry.priority, entry.action.told()));
    Entry<ClientAction> as values::ClientEntry, |entry| {
        let (key, action) = (entry.key.told(), entry.action.told());
        values::ClientEntry((entry.handle, key, entry.priority, action, entry.note, entry.ttl_ns))
    };
}

/// Values for Python, under their names in `eeon_engine.values`, which describes them.
pub(crate) mod values {
    use bm::{ActionData, MatchKeyParam, MtAction};
    use pyo3::inspect::PyStaticExpr;
    use pyo3::prelude::*;
    use pyo3::type_hint_identifier;
    use pyo3::types::PyTuple;

    macro_rules! tuples {
        ($($name:ident($of:ty): |$value:ident, $py:ident| $made:expr;)*) => {$(
            pub(crate) struct $name(pub(crate) $of);

            impl<'py> IntoPyObject<'py> for $name {
                type Target = PyTuple;
                type Output = Bound<'py, PyTuple>;
                type Error = PyErr;
                const OUTPUT_TYPE: PyStaticExpr = type_hint_identifier!("eeon_engine.values", stringify!($name));

                fn into_pyobject(self, $py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                    let $value = self.0;
                    $made
                }
            }
        )*};
        ($($name:ident($of:ty);)*) => {
            tuples! { $($name($of): |value, py| value.into_pyobject(py);)* }
        };
    }

    tuples! {
        ClientDefault((Option<ClientAction>, Vec<u8>, bool));
        ClientEntry((u64, Vec<MatchParam>, u32, ClientAction, Vec<u8>, u64));
        ClientGroup((u32, Vec<Share>, Vec<u8>));
        ClientMember((u32, String, ActionData));
        CounterCell((u64, u64));
        Entry((u64, Vec<MatchParam>, u32, EntryAction));
        Group((u64, Vec<u64>));
        McCopies((u16, Vec<(u16, u16)>, Vec<u8>));
        McGroup((u16, Vec<u32>));
        McLag((u16, Vec<u16>));
        McNode((u32, u16, Vec<u16>, Vec<u16>));
        Member((u64, String, ActionData));
        MeterRate((f64, u32));
        PortInfo((u16, String, bool));
        Share((u32, u32, Option<u16>));
    }

    tuples! {
        MatchParam(MatchKeyParam): |param, py| match param {
            MatchKeyParam::Exact(value) => ("exact", value).into_pyobject(py),
            MatchKeyParam::Lpm(value, length) => ("lpm", value, length).into_pyobject(py),
            MatchKeyParam::Ternary(value, mask) => ("ternary", value, mask).into_pyobject(py),
            MatchKeyParam::Range(low, high) => ("range", low, high).into_pyobject(py),
            MatchKeyParam::Valid(valid) => ("valid", valid).into_pyobject(py),
        };
        EntryAction(MtAction): |action, py| match action {
            MtAction::Action(name, data) => ("action", name, data).into_pyobject(py),
            MtAction::Member(handle) => ("member", handle).into_pyobject(py),
            MtAction::Group(handle) => ("group", handle).into_pyobject(py),
        };
        ClientAction(bm::ClientAction): |action, py| match action {
            bm::ClientAction::Action(name, data) => ("action", name, data).into_pyobject(py),
            bm::ClientAction::Member(id) => ("member", id).into_pyobject(py),
            bm::ClientAction::Group(id) => ("group", id).into_pyobject(py),
            bm::ClientAction::OneShot(set) => {
                let choices = set.choices.into_iter();
                let choices = choices.map(|choice| (choice.action, choice.data, choice.weight, choice.watch));
                ("one_shot", set.note, choices.collect::<Vec<_>>()).into_pyobject(py)
            }
        };
    }
}

/// One field of a match key, as passed from Python: a kind, and its values.
pub(crate) struct KeyParam(MatchKeyParam);

impl FromPyObject<'_, '_> for KeyParam {
    type Error = PyErr;
    const INPUT_TYPE: PyStaticExpr = type_hint_identifier!("eeon_engine.values", "MatchParam");

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let tuple = object
            .cast::<PyTuple>()
            .map_err(|_| PyTypeError::new_err("a match parameter is a tuple such as ('exact', b'\\x0a')"))?;
        let kind: String = tuple.get_item(0)?.extract()?;
        let bytes = |index: usize| -> PyResult<Vec<u8>> {
            Ok(tuple.get_item(index)?.extract::<PyBackedBytes>()?.to_vec())
        };
        Ok(KeyParam(match (kind.as_str(), tuple.len()) {
            ("exact", 2) => MatchKeyParam::Exact(bytes(1)?),
            ("lpm", 3) => MatchKeyParam::Lpm(bytes(1)?, tuple.get_item(2)?.extract()?),
            ("ternary", 3) => MatchKeyParam::Ternary(bytes(1)?, bytes(2)?),
            ("range", 3) => MatchKeyParam::Range(bytes(1)?, bytes(2)?),
            ("valid", 2) => MatchKeyParam::Valid(tuple.get_item(1)?.extract()?),
            (kind, length) => {
                return Err(PyValueError::new_err(format!(
                    "a match parameter of {length} items starting with '{kind}'; see eeon_engine.values.MatchParam"
                )))
            }
        }))
    }
}

/// The action of an entry, as passed from Python.
pub(crate) struct Action(ClientAction);

impl FromPyObject<'_, '_> for Action {
    type Error = PyErr;
    const INPUT_TYPE: PyStaticExpr = type_hint_identifier!("eeon_engine.values", "ClientAction");

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let tuple = object
            .cast::<PyTuple>()
            .map_err(|_| PyTypeError::new_err("an entry's action is a tuple such as ('member', 7)"))?;
        let kind: String = tuple.get_item(0)?.extract()?;
        Ok(Action(match (kind.as_str(), tuple.len()) {
            ("action", 3) => {
                let data: Data = tuple.get_item(2)?.extract()?;
                ClientAction::Action(tuple.get_item(1)?.extract()?, data.0)
            }
            ("member", 2) => ClientAction::Member(tuple.get_item(1)?.extract()?),
            ("group", 2) => ClientAction::Group(tuple.get_item(1)?.extract()?),
            ("one_shot", 3) => {
                let choices: Vec<(String, Data, u32, Option<u16>)> = tuple.get_item(2)?.extract()?;
                let choices = choices.into_iter().map(|(action, data, weight, watch)| ActionChoice {
                    action,
                    data: data.0,
                    weight,
                    watch,
                });
                let note = tuple.get_item(1)?.extract::<PyBackedBytes>()?.to_vec();
                ClientAction::OneShot(ActionSet { note, choices: choices.collect() })
            }
            (kind, length) => {
                return Err(PyValueError::new_err(format!(
                    "an action of {length} items starting with '{kind}'; see eeon_engine.values.ClientAction"
                )))
            }
        }))
    }
}

/// Makes types of sequences: an item as Python gives it, and as the engine takes it.
macro_rules! sequences {
    ($($sequence:ident: $item:ty as $for:ty, $convert:expr;)*) => {$(
        pub(crate) struct $sequence(Vec<$for>);

        impl FromPyObject<'_, '_> for $sequence {
            type Error = PyErr;
            const INPUT_TYPE: PyStaticExpr = <Vec<$item>>::INPUT_TYPE;

            fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
                let items: Vec<$item> = object.extract()?;
                Ok(Self(items.into_iter().map($convert).collect()))
            }
        }

        impl Given for $sequence {
            type For<'a> = &'a [$for];
            fn given(&self) -> &[$for] {
                &self.0
            }
        }
    )*};
}

sequences! {
    Key: KeyParam as MatchKeyParam, |param| param.0;
    Data: PyBackedBytes as Vec<u8>, |value| value.to_vec();
    Ports: u16 as u16, |port| port;
    Rates: (f64, u32) as MeterRate, |(info_rate, burst_size)| MeterRate { info_rate, burst_size };
    Shares: (u32, u32, Option<u16>) as Share, |(member, weight, watch)| Share { member, weight, watch };
}

macro_rules! given {
    ($($kind:ty as $made:ty, |$value:ident| $given:expr;)*) => {$(
        impl Given for $kind {
            type For<'a> = $made;
            fn given(&self) -> Self::For<'_> {
                let $value = self;
                $given
            }
        }
    )*};
}

/// A multicast node, by its handle.
#[derive(FromPyObject)]
pub(crate) struct Node(u32);

/// Polynomial, initial remainder, final XOR, whether data is reflected, whether the remainder is reflected.
pub(crate) type Crc<T> = (T, T, T, bool, bool);

given! {
    str as &'a str, |text| text;
    PyBackedBytes as &'a [u8], |bytes| bytes;
    Option<u16> as Option<u16>, |number| *number;
    Option<u32> as Option<u32>, |number| *number;
    Option<u64> as Option<u64>, |number| *number;
    Node as NodeHandle, |node| NodeHandle(node.0);
    Action as &'a ClientAction, |action| &action.0;
    Option<Action> as Option<&'a ClientAction>, |action| action.as_ref().map(Given::given);
    Option<(String, Data)> as Option<(&'a str, &'a [Vec<u8>])>,
        |action| action.as_ref().map(|(name, data)| (name.as_str(), data.given()));
}

impl<T: Copy> Given for Crc<T> {
    type For<'a>
        = CrcParameters<T>
    where
        T: 'a;
    fn given(&self) -> CrcParameters<T> {
        let (polynomial, initial_remainder, final_xor, reflect_data, reflect_remainder) = *self;
        CrcParameters { polynomial, initial_remainder, final_xor, reflect_data, reflect_remainder }
    }
}

/// A structure as a dictionary: the type of its name in `eeon_engine.json_types`.
pub(crate) struct AsDict<T>(pub(crate) T);

macro_rules! dictionaries {
    ($($kind:ident),*) => {$(
        impl<'py> IntoPyObject<'py> for AsDict<$kind> {
            type Target = PyAny;
            type Output = Bound<'py, PyAny>;
            type Error = PyErr;
            const OUTPUT_TYPE: PyStaticExpr = type_hint_identifier!("eeon_engine.json_types", stringify!($kind));

            fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(pythonize::pythonize(py, &self.0)?)
            }
        }
    )*};
}

dictionaries! { PortStats, SwitchStats }

#[cfg(all(target_os = "linux", feature = "live-ports"))]
dictionaries! { LiveCounts }

/// Names that are constants of the module.
#[derive(Clone, Copy)]
pub(crate) struct Names(pub(crate) &'static [&'static str]);

impl<'py> IntoPyObject<'py> for Names {
    type Target = PyTuple;
    type Output = Bound<'py, PyTuple>;
    type Error = PyErr;
    const OUTPUT_TYPE: PyStaticExpr = type_hint_subscript!(
        PyTuple::TYPE_HINT,
        String::OUTPUT_TYPE,
        PyStaticExpr::Constant { value: PyStaticConstant::Ellipsis }
    );

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0)
    }
}
