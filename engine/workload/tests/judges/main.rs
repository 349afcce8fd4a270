//! Independent judges of the applications: an event-by-event model of the cluster, closed forms, and properties that
//! hold for any description. All of them drive a `Workload` as `netsim` does, through its public interface.

mod cluster;
mod cluster_cases;
mod coflows;
mod driver;
mod flows;
mod incast;
mod oracle;
mod phases;
mod properties;
mod refusals;
mod rpc;
mod scatter_gather;
mod stats;
