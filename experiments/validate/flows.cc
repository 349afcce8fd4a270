// A list of flows on ns-3: hosts around one switch or on leaves and spines, TCP as the twin can have it, links with Ethernet's bytes.
//
// Usage: flows KEY=VALUE..., all of `defaults` that differ. The list comes on standard input, a line for each flow:
//
//     SOURCE DESTINATION BYTES START_PS MEASURED
//
// with numbers of hosts from 0 on, leaf by leaf, and 0 or 1 for whether the run waits for its end. Standard output has one JSON object:
// completion of each flow in ps (null without an end), and of each kind of port its packets marked and dropped and its depth in bytes.

#include <algorithm>
#include <ctime>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

// Packets as the queue discs count them, IP's bytes, and frames as the twin's switches count them.
constexpr double PACKET = 1500, FRAME = 1514;

std::map<std::string, uint64_t> settings = {
    {"leaves", 1},          {"hosts", 8}, // of a leaf
    {"spines", 0},          {"host_bps", 1000000000},
    {"uplink_bps", 0},      {"delay_ps", 500000},
    {"buffer_bytes", 0},    {"threshold_bytes", 0}, // 0: no AQM
    {"drop_not_ect", 1},    // above the threshold, as RED does; 0 lets such packets pass
    {"window_bytes", 0},    {"min_rto_ps", 0},
    {"initial_rto_ps", 0},  {"delayed_ack_ps", 0},
    {"limit_ps", 0},        {"period_ps", 1000000000}, // of which the deepest queue is kept
};

uint64_t get(const std::string& key) {
    return settings.at(key);
}

Time ps(uint64_t time) {
    return Time::FromInteger(time, Time::PS);
}

// Every frame has Ethernet's length on the wire: 14 bytes of header, 46 of payload at least, 4 of checksum, 20 of preamble and gap,
// of which PPP's header has 2. IP takes the padding off.
class Ethernet : public PointToPointNetDevice {
  public:
    bool Send(Ptr<Packet> packet, const Address& to, uint16_t protocol) override {
        packet->AddPaddingAtEnd(std::max(packet->GetSize(), 46u) + 38 - 2 - packet->GetSize());
        return PointToPointNetDevice::Send(packet, to, protocol);
    }
};

// Where packets are marked: ns-3's queue disc counts IP's bytes, and does not see the packet that waits in the device.
double threshold() {
    return (get("threshold_bytes") - FRAME) * PACKET / FRAME;
}

uint64_t buffer() {
    return get("buffer_bytes") * PACKET / FRAME;
}

// RED with both thresholds the same and the depth of now, but that it lets packets pass that are not ECN-capable.
class Threshold : public QueueDisc {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("ns3::Threshold").SetParent<QueueDisc>().AddConstructor<Threshold>();
        return id;
    }

  private:
    bool DoEnqueue(Ptr<QueueDiscItem> item) override {
        const uint64_t found = GetInternalQueue(0)->GetNBytes();
        if (found + item->GetSize() > limit) {
            DropBeforeEnqueue(item, "full");
            return false;
        }
        if (found >= mark) {
            Mark(item, "threshold");
        }
        return GetInternalQueue(0)->Enqueue(item);
    }

    Ptr<QueueDiscItem> DoDequeue() override {
        return GetInternalQueue(0)->Dequeue();
    }

    bool CheckConfig() override {
        auto queue = CreateObject<DropTailQueue<QueueDiscItem>>();
        queue->SetMaxSize(QueueSize("4000000000B"));
        AddInternalQueue(queue);
        return true;
    }

    void InitializeParams() override {}

    const double mark = threshold();
    const uint64_t limit = buffer();
};

// ECMP of a leaf: each connection goes by one spine, the way back by any.
class Spread : public Ipv4StaticRouting {
  public:
    Ipv4Address own;
    std::vector<Ptr<NetDevice>> up;

    bool RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> from, const UnicastForwardCallback& forward,
                    const MulticastForwardCallback& multicast, const LocalDeliverCallback& local, const ErrorCallback& error) override {
        const Ipv4Mask leaf("255.255.0.0");
        if (up.empty() || header.GetDestination().CombineMask(leaf) == own) {
            return Ipv4StaticRouting::RouteInput(packet, header, from, forward, multicast, local, error);
        }
        TcpHeader tcp;
        packet->PeekHeader(tcp);
        uint64_t hash = header.GetSource().Get() * 0x9e3779b97f4a7c15u ^ header.GetDestination().Get() * 0xc2b2ae3d27d4eb4fu;
        hash = (hash ^ tcp.GetSourcePort() ^ tcp.GetDestinationPort() << 16) * 0xd6e8feb86659fd93u;
        auto route = Create<Ipv4Route>();
        route->SetDestination(header.GetDestination());
        route->SetSource(header.GetSource());
        route->SetOutputDevice(up[(hash >> 32) % up.size()]);
        forward(route, packet, header);
        return true;
    }
};

// The depth of one port, in the queue disc and behind it in the device, and the deepest of each period.
struct Port {
    Ptr<QueueDisc> disc;
    uint64_t period_ps;
    uint32_t parts[2] = {0, 0};
    std::vector<uint32_t> peaks;

    void change(size_t part, uint32_t to) {
        const size_t period = Simulator::Now().GetTimeStep() / period_ps; // the resolution is 1 ps
        const uint32_t before = parts[0] + parts[1];
        parts[part] = to;
        while (peaks.size() <= period) {
            peaks.push_back(before);
        }
        peaks[period] = std::max(peaks[period], parts[0] + parts[1]);
    }
};

// ns-3's DCTCP has no least window: behind a queue that marks everything a flow comes down to one segment, for which the receiver
// delays every ACK. RFC 8257 and Linux stop at two.
class Dctcp : public TcpDctcp {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("ns3::Dctcp").SetParent<TcpDctcp>().AddConstructor<Dctcp>();
        return id;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t inFlight) override {
        return std::max(TcpDctcp::GetSsThresh(state, inFlight), 2 * state->m_segmentSize);
    }

    Ptr<TcpCongestionOps> Fork() override {
        return CopyObject<Dctcp>(this);
    }
};

struct Flow {
    uint64_t bytes = 0, received = 0;
    Time start, took;
    bool measured = false;
};

std::vector<Flow> flows;
size_t waiting = 0;
uint64_t retransmissions = 0, timeouts = 0;
std::map<const TcpSocketBase*, SequenceNumber32> sent;

void onTransmit(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket) {
    if (packet->GetSize() == 0) {
        return;
    }
    const auto end = header.GetSequenceNumber() + SequenceNumber32(packet->GetSize());
    auto [highest, isFirst] = sent.try_emplace(PeekPointer(socket), end);
    if (!isFirst && end <= highest->second) {
        retransmissions++;
    }
    highest->second = std::max(highest->second, end);
}

void onState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t to) {
    timeouts += to == TcpSocketState::CA_LOSS;
}

void onReceive(size_t number, Ptr<const Packet> packet, const Address&) {
    Flow& flow = flows[number];
    flow.received += packet->GetSize();
    if (flow.received == flow.bytes) {
        flow.took = Simulator::Now() - flow.start;
        waiting -= flow.measured;
        if (waiting == 0) {
            Simulator::Stop();
        }
    }
}

void watch(Ptr<BulkSendApplication> application) {
    application->GetSocket()->TraceConnectWithoutContext("Tx", MakeCallback(&onTransmit));
    application->GetSocket()->TraceConnectWithoutContext("CongState", MakeCallback(&onState));
}

void onDisc(Port* port, uint32_t, uint32_t to) {
    port->change(0, to);
}

void onDevice(Port* port, uint32_t, uint32_t to) {
    port->change(1, to);
}

void setDefaults(const std::string& algorithm, bool marks) {
    const std::map<std::string, std::string> types = {{"ecn", "ns3::TcpLinuxReno"}, {"dctcp", "ns3::Dctcp"},
                                                      {"cubic", "ns3::TcpCubic"}, {"vegas", "ns3::TcpVegas"}};
    Dctcp::GetTypeId();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(types.at(algorithm)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpPrrRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(marks ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(ps(get("min_rto_ps"))));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(ps(get("initial_rto_ps"))));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(ps(get("delayed_ack_ps"))));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(get("window_bytes")));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(get("window_bytes")));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
}

// Two devices and the link between them.
NetDeviceContainer connect(Ptr<Node> a, Ptr<Node> b, uint64_t bps) {
    auto channel = CreateObject<PointToPointChannel>();
    channel->SetAttribute("Delay", TimeValue(ps(get("delay_ps"))));
    NetDeviceContainer devices;
    for (const auto& node : {a, b}) {
        auto device = CreateObject<Ethernet>();
        device->SetAttribute("DataRate", DataRateValue(DataRate(bps)));
        device->SetAddress(Mac48Address::Allocate());
        node->AddDevice(device);
        auto queue = CreateObject<DropTailQueue<Packet>>();
        queue->SetMaxSize(QueueSize("1p"));
        device->SetQueue(queue);
        auto interface = CreateObject<NetDeviceQueueInterface>();
        interface->GetTxQueue(0)->ConnectQueueTraces(queue);
        device->AggregateObject(interface);
        device->Attach(channel);
        devices.Add(device);
    }
    return devices;
}

void print(const char* name, const std::vector<Port*>& ports, const char* end) {
    uint64_t marked = 0, dropped = 0, deepest = 0;
    double sum = 0;
    const size_t periods = std::max<size_t>(1, Simulator::Now().GetPicoSeconds() / get("period_ps"));
    for (Port* port : ports) {
        port->change(0, port->parts[0]); // up to now
        marked += port->disc->GetStats().nTotalMarkedPackets;
        dropped += port->disc->GetStats().nTotalDroppedPackets;
        for (size_t period = 0; period < port->peaks.size(); period++) {
            deepest = std::max<uint64_t>(deepest, port->peaks[period]);
            sum += period < periods ? port->peaks[period] : 0;
        }
    }
    std::cout << '"' << name << "\": {\"marked\": " << marked << ", \"dropped\": " << dropped << ", \"queue_max_bytes\": " << deepest
              << ", \"queue_mean_bytes\": " << (ports.empty() ? 0 : sum / ports.size() / periods) << '}' << end;
}

} // namespace

int main(int argc, char** argv) {
    Time::SetResolution(Time::PS);
    std::string algorithm = "dctcp";
    for (int index = 1; index < argc; index++) {
        const std::string argument = argv[index], key = argument.substr(0, argument.find('='));
        const std::string value = argument.substr(std::min(argument.size(), key.size() + 1));
        if (key == "algorithm") {
            algorithm = value;
        } else if (settings.count(key) && !value.empty()) {
            settings[key] = std::stoull(value);
        } else {
            std::cerr << argument << ": not one of the settings of flows.cc\n";
            return 2;
        }
    }
    const uint64_t leaves = get("leaves"), hosts = get("hosts");
    const bool marks = get("threshold_bytes") > 0;
    setDefaults(algorithm, marks);

    NodeContainer host, leaf, spine;
    host.Create(leaves * hosts);
    leaf.Create(leaves);
    spine.Create(get("spines"));
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(host);
    stack.Install(leaf);
    stack.Install(spine);

    const std::string limit = std::to_string(buffer()) + "B";
    TrafficControlHelper queue, deep;
    deep.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("4000000000B"));
    if (!marks) {
        queue.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(limit));
    } else if (get("drop_not_ect")) {
        queue.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(threshold()), "MaxTh", DoubleValue(threshold()), "QW",
                               DoubleValue(1), "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false), "Gentle",
                               BooleanValue(false), "MaxSize", StringValue(limit), "LinkBandwidth",
                               DataRateValue(DataRate(get("host_bps"))), "MeanPktSize", UintegerValue(PACKET));
    } else {
        Threshold::GetTypeId();
        queue.SetRootQueueDisc("ns3::Threshold");
    }
    std::map<std::string, std::vector<Port*>> ports;
    auto install = [&](const char* kind, Ptr<NetDevice> device) {
        auto port = new Port{queue.Install(device).Get(0), get("period_ps")}; // as long as the program
        port->disc->TraceConnectWithoutContext("BytesInQueue", MakeCallback(&onDisc).Bind(port));
        DynamicCast<Ethernet>(device)->GetQueue()->TraceConnectWithoutContext("BytesInQueue", MakeCallback(&onDevice).Bind(port));
        ports[kind].push_back(port);
    };

    Ipv4AddressHelper addresses;
    auto assign = [&](const std::string& base, const NetDeviceContainer& devices) {
        addresses.SetBase(base.c_str(), "255.255.255.0");
        return addresses.Assign(devices);
    };
    Ipv4StaticRoutingHelper routing;
    std::vector<Ipv4Address> address;
    for (uint64_t number = 0; number < leaves; number++) {
        const std::string network = "10." + std::to_string(number) + ".";
        auto spread = CreateObject<Spread>();
        spread->own = Ipv4Address((network + "0.0").c_str());
        leaf.Get(number)->GetObject<Ipv4>()->SetRoutingProtocol(spread);
        for (uint64_t of = 0; of < hosts; of++) {
            auto node = host.Get(number * hosts + of);
            auto devices = connect(node, leaf.Get(number), get("host_bps"));
            deep.Install(devices.Get(0));
            install("host_facing", devices.Get(1));
            auto interfaces = assign(network + std::to_string(of) + ".0", devices);
            address.push_back(interfaces.GetAddress(0));
            routing.GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(interfaces.GetAddress(1), 1);
        }
        for (uint64_t of = 0; of < get("spines"); of++) {
            auto devices = connect(leaf.Get(number), spine.Get(of), get("uplink_bps"));
            install("uplink", devices.Get(0));
            install("spine", devices.Get(1));
            assign("172.16." + std::to_string(number * get("spines") + of) + ".0", devices);
            spread->up.push_back(devices.Get(0));
            auto ipv4 = spine.Get(of)->GetObject<Ipv4>();
            routing.GetStaticRouting(ipv4)->AddNetworkRouteTo(spread->own, "255.255.0.0", ipv4->GetInterfaceForDevice(devices.Get(1)));
        }
    }

    uint64_t source, destination, bytes, start, measured;
    while (std::cin >> source >> destination >> bytes >> start >> measured) {
        const uint16_t port = 1000 + flows.size();
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        auto receiver = sink.Install(host.Get(destination));
        receiver.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&onReceive).Bind(flows.size()));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address.at(destination), port));
        bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
        bulk.SetAttribute("SendSize", UintegerValue(14600));
        auto sender = bulk.Install(host.Get(source));
        sender.Start(ps(start));
        Simulator::Schedule(ps(start + 1), &watch, DynamicCast<BulkSendApplication>(sender.Get(0)));
        flows.push_back({bytes, 0, ps(start), Time(), measured != 0});
        waiting += measured != 0;
    }
    Simulator::Stop(ps(get("limit_ps")));
    Simulator::Run();

    std::cout << "{\"completion_ps\": [";
    for (size_t number = 0; number < flows.size(); number++) {
        const bool ended = flows[number].received >= flows[number].bytes;
        std::cout << (number ? ", " : "") << (ended ? std::to_string(flows[number].took.GetPicoSeconds()) : "null");
    }
    std::cout << "], \"retransmissions\": " << retransmissions << ", \"timeouts\": " << timeouts
              << ", \"cpu_seconds\": " << double(std::clock()) / CLOCKS_PER_SEC << ", ";
    print("uplink", ports["uplink"], ", ");
    print("spine", ports["spine"], ", ");
    print("host_facing", ports["host_facing"], "}\n");
    Simulator::Destroy();
    return 0;
}
