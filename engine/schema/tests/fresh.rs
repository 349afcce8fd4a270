//! The file that the Python types are made of is of the Rust types.

#[test]
fn the_schema_in_the_repository_is_that_of_the_types() {
    let differs = include_str!("../schema.json") != schema::text();
    assert!(
        !differs,
        "schema/schema.json is not of the Rust types: run `make reference` and commit what it writes"
    );
}
