//! Objects named by a client's id and by handle are the same objects, and a batch is undone completely.

use bm::{ActionChoice, ActionSet, ClientAction, MatchKeyParam, Share, State};

use crate::harness::{values, Bench};

const TABLES: &[u8] = include_bytes!("../programs/tables.json");
const PROFILE: &str = "action_profile_1";
const TABLE: &str = "ingress.groups";
const ACTION: &str = "ingress.set_port";

fn state() -> State {
    Bench::new(TABLES).state
}

fn share(member: u32, weight: u32) -> Share {
    Share { member, weight, watch: None }
}

fn key(value: u8) -> [MatchKeyParam; 1] {
    [MatchKeyParam::Exact(vec![value])]
}

fn one_shot(choices: &[(u8, u32)]) -> ClientAction {
    let choice = |&(port, weight): &(u8, u32)| ActionChoice {
        action: ACTION.to_owned(),
        data: vec![vec![port]],
        weight,
        watch: None,
    };
    ClientAction::OneShot(ActionSet { note: Vec::new(), choices: choices.iter().map(choice).collect() })
}

fn members(state: &State) -> Vec<u64> {
    state.mt_act_prof_get_members(PROFILE).unwrap().iter().map(|member| member.number).collect()
}

#[test]
fn what_was_made_by_handle_gives_way_to_a_client_that_takes_its_id() {
    let mut state = state();
    state.mt_act_prof_add_member(PROFILE, ACTION, &values(&[1])).unwrap();
    let ids = |state: &State| -> Vec<u32> {
        state.client_members(PROFILE, None).unwrap().iter().map(|member| member.number).collect()
    };
    assert_eq!(ids(&state), [u32::MAX]);
    state.client_add_member(PROFILE, u32::MAX, ACTION, &values(&[2])).unwrap();
    assert_eq!(ids(&state), [u32::MAX - 1, u32::MAX]);
    assert_eq!(state.client_members(PROFILE, Some(u32::MAX - 1)).unwrap().len(), 1);
    let taken = state.client_add_member(PROFILE, u32::MAX, ACTION, &values(&[3])).unwrap_err();
    assert_eq!(taken.to_string(), "action profile 'action_profile_1': member 4294967295 is there already");
}

#[test]
fn a_weight_is_as_many_members_and_the_order_of_a_group_is_its_clients() {
    let mut state = state();
    for id in [1, 2] {
        state.client_add_member(PROFILE, id, ACTION, &values(&[u64::from(id)])).unwrap();
    }
    state.client_add_group(PROFILE, 7, &[share(2, 1), share(1, 3)], b"note").unwrap();
    assert_eq!(state.mt_act_prof_get_groups(PROFILE).unwrap()[0].members, [0, 1, 2, 3]);
    state.mt_act_prof_remove_member_from_group(PROFILE, 3, 0).unwrap();
    let group = state.client_groups(PROFILE, Some(7)).unwrap().remove(0);
    assert_eq!((group.members, group.note), (vec![share(2, 1), share(1, 2)], b"note".to_vec()));
    state.client_modify_group(PROFILE, 7, &[], b"").unwrap();
    state.client_delete_member(PROFILE, 1).unwrap();
    assert_eq!(members(&state), [1]);
}

#[test]
fn a_client_goes_on_with_a_copy_when_its_member_is_deleted_by_handle() {
    let mut state = state();
    state.client_add_member(PROFILE, 1, ACTION, &values(&[1])).unwrap();
    state.client_add_group(PROFILE, 7, &[share(1, 2)], b"").unwrap();
    state.mt_act_prof_remove_member_from_group(PROFILE, 0, 0).unwrap();
    state.mt_act_prof_delete_member(PROFILE, 0).unwrap();
    assert_eq!(state.client_groups(PROFILE, None).unwrap()[0].members, [share(1, 1)]);
    assert_eq!(state.client_members(PROFILE, None).unwrap()[0].number, 1);
}

#[test]
fn equal_one_shots_share_a_group_that_goes_with_their_last_entry() {
    let mut state = state();
    let first = state.client_add_entry(TABLE, &key(1), 0, &one_shot(&[(4, 2), (5, 1)]), b"").unwrap();
    let second = state.client_add_entry(TABLE, &key(2), 0, &one_shot(&[(4, 2), (5, 1)]), b"").unwrap();
    assert_eq!((members(&state).len(), state.mt_act_prof_get_groups(PROFILE).unwrap().len()), (3, 1));
    state.mt_delete_entry(TABLE, first).unwrap();
    let ClientAction::OneShot(set) = state.client_entries(TABLE).unwrap().remove(0).action else {
        panic!("the entry has a one-shot");
    };
    assert_eq!(set.choices.iter().map(|choice| choice.weight).collect::<Vec<_>>(), [2, 1]);
    state.client_modify_entry(TABLE, second, Some(&one_shot(&[(5, 1)])), b"").unwrap();
    assert_eq!(members(&state).len(), 1);
    state.mt_clear_entries(TABLE, false).unwrap();
    assert!(members(&state).is_empty());
}

#[test]
fn a_refused_one_shot_leaves_no_members_behind() {
    let mut state = state();
    let full = state.client_add_entry(TABLE, &key(1), 0, &one_shot(&[(4, 10), (5, 10)]), b"").unwrap_err();
    assert!(full.to_string().contains("16"), "{full}");
    assert!(members(&state).is_empty());
}

#[test]
fn a_batch_that_is_taken_back_leaves_rows_handles_and_groups_as_they_were() {
    let mut state = state();
    let kept = state.client_add_entry(TABLE, &key(1), 0, &one_shot(&[(4, 2)]), b"mine").unwrap();
    let gone = state.client_add_entry(TABLE, &key(2), 0, &one_shot(&[(4, 2)]), b"").unwrap();
    state.mt_delete_entry(TABLE, gone).unwrap();
    let untouched = state.clone();
    state.begin_batch();
    state.mt_delete_entry(TABLE, kept).unwrap();
    for value in 3..9 {
        state.client_add_entry(TABLE, &key(value), 0, &one_shot(&[(value, 1), (4, 1)]), b"n").unwrap();
    }
    state.client_set_default("ingress.route", Some(("ingress.send", &values(&[7]))), b"n").unwrap();
    state.roll_back(0);
    state.end_batch();
    assert_eq!(state.client_entries(TABLE), untouched.client_entries(TABLE));
    assert_eq!(state.client_default("ingress.route"), untouched.client_default("ingress.route"));
    assert_eq!(state.mt_act_prof_get_members(PROFILE), untouched.mt_act_prof_get_members(PROFILE));
    assert_eq!(state.mt_act_prof_get_groups(PROFILE), untouched.mt_act_prof_get_groups(PROFILE));
    let next = |mut state: State| state.client_add_entry(TABLE, &key(9), 0, &one_shot(&[(4, 2)]), b"");
    assert_eq!(next(state), next(untouched));
}
