//! A fabric in virtual time: events, links, EEE PHYs, NICs, hosts, measures.
