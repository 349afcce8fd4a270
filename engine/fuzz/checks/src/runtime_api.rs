//! Calls of the runtime interface in any order with any values: each is refused or accepted as in the model, and what
//! is read back is what was written.

use simple_switch::{PortConfig, Switch, SwitchConfig};

use crate::calls::Op;
use crate::input::Input;
use crate::model::Model;
use crate::programs;

/// Maximum number of calls of one input.
const MAX_CALLS: usize = 120;

/// Runs the target. The input: 1 byte for the program, then calls.
pub fn runtime_api(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let program = programs::program(usize::from(input.u8()));
    let config = SwitchConfig { ports: vec![PortConfig::unlimited(1)], ..SwitchConfig::default() };
    let mut switch = Switch::new(program, config).expect("the configuration is sound");
    let mut model = Model::new(&switch);
    for _ in 0..MAX_CALLS {
        if input.is_empty() {
            break;
        }
        let Some(op) = Op::next(&mut input, &switch) else { break };
        let (answer, expected) = (crate::runtime_interface::make(&mut switch, &op), model.make(&op));
        match (&answer, &expected) {
            (Ok(handle), Ok(expected)) => assert_eq!(handle, expected, "the handle that {op:?} gave"),
            (Err(error), Err(_)) => assert!(!error.text.is_empty() && error.text.len() < 4096, "{error}"),
            (Ok(_), Err(_)) => panic!("{op:?} should have been refused"),
            (Err(error), Ok(_)) => panic!("{op:?} was refused: {error}"),
        }
        model.check(&switch);
    }
    model.check_all(&switch);
}
