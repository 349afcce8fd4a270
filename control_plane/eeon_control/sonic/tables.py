"""CONFIG_DB's tables: those that are mapped, and those of queues that are not."""

# Tables of queues and priorities that this configuration has nothing for. Each is refused unless the caller
# leaves it out knowingly.
UNMAPPED = {
    "BUFFER_PG": "ingress buffers by priority group; a port here has one buffer, at the egress",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "buffers of a whole port; give BUFFER_QUEUE",
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "ingress buffers; a port here has one buffer, at the egress",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": "lossless classes, which are not taken over: write a pfc profile",
    "DOT1P_TO_TC_MAP": "classes, which are not taken over: write `classes` with `pcp`",
    "DSCP_TO_FC_MAP": "forwarding classes, which this program does not have",
    "LOSSLESS_TRAFFIC_PATTERN": "lossless classes, which are not taken over: write a pfc profile",
    "MAP_PFC_PRIORITY_TO_QUEUE": "lossless classes, which are not taken over: write a pfc profile",
    "MPLS_TC_TO_TC_MAP": "MPLS, which this program does not have",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "lossless classes, which are not taken over: write a pfc profile",
    "PFC_WD": "the PFC watchdog, which is not taken over: write `watchdog` into a pfc profile",
    "SCHEDULER": "scheduling of several queues, which is not taken over: write `quantum` of `classes`",
    "TC_TO_DSCP_MAP": "remarking, which this program does not do",
    "TC_TO_PRIORITY_GROUP_MAP": "ingress buffers by priority group; a port here has one buffer",
}
MAPPED = (
    "PORT",
    "QUEUE",
    "WRED_PROFILE",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_QUEUE",
    "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "PORT_QOS_MAP",
)
