//! Calls of the runtime interface in any order with any values: each is refused or accepted as in the model, and what
//! is read back is what was written. A batch that is rolled back has changed nothing.

use simple_switch::{PortConfig, Switch, SwitchConfig};

use crate::calls::Op;
use crate::input::Input;
use crate::model::Model;
use crate::programs;
use crate::runtime_interface::make;

/// Maximum number of calls of one input.
const MAX_CALLS: usize = 120;

/// Runs the target. The input: 1 byte for the program, then calls. They are made once, and again after a batch that is
/// rolled back: the calls that the second half of the bytes contains.
pub fn runtime_api(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let program = programs::program(usize::from(input.u8()));
    let config = SwitchConfig { ports: vec![PortConfig::unlimited(1)], ..SwitchConfig::default() };
    let mut switch = Switch::new(program, config).expect("the configuration is sound");
    let mut model = Model::new(&switch);
    let calls = input.rest();
    make_and_compare(&mut switch, &mut model, calls);

    switch.begin_batch();
    let before = switch.savepoint();
    for_each_call(&mut switch, &calls[calls.len() / 2..], |switch, op| {
        if op.may_be_in_a_batch() {
            // Whether the call is refused depends on the others, as it does outside a batch.
            let _ = make(switch, op);
        }
    });
    switch.roll_back(before);
    switch.end_batch();
    model.check_all(&switch);

    make_and_compare(&mut switch, &mut model, calls);
}

/// Makes calls to the switch and to the model, and compares their answers and what is read back.
fn make_and_compare(switch: &mut Switch, model: &mut Model, input: &[u8]) {
    for_each_call(switch, input, |switch, op| {
        let (answer, expected) = (make(switch, op), model.make(op));
        match (&answer, &expected) {
            (Ok(handle), Ok(expected)) => assert_eq!(handle, expected, "the handle that {op:?} gave"),
            (Err(error), Err(_)) => assert!(!error.text.is_empty() && error.text.len() < 4096, "{error}"),
            (Ok(_), Err(_)) => panic!("{op:?} should have been refused"),
            (Err(error), Ok(_)) => panic!("{op:?} was refused: {error}"),
        }
        model.check(switch);
    });
    model.check_all(switch);
}

fn for_each_call(switch: &mut Switch, input: &[u8], mut call: impl FnMut(&mut Switch, &Op)) {
    let mut input = Input::new(input);
    for _ in 0..MAX_CALLS {
        if input.is_empty() {
            break;
        }
        let Some(op) = Op::next(&mut input, switch) else { break };
        call(switch, &op);
    }
}
