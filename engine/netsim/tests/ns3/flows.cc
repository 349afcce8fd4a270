// The same flows as tests/ns3/main.rs on ns-3: hosts around one router, TCP as both can have it.
//
// Usage: flows ALGORITHM PATTERN HOSTS BYTES, prints one line: mean and last completion in us, marks, drops, retransmissions, time-outs.

#include <algorithm>
#include <cstdlib>
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

struct Flow {
    Time start, end;
    uint64_t received = 0;
    uint64_t bytes = 0;
};

std::vector<Flow> flows;
uint64_t retransmissions = 0;
uint64_t timeouts = 0;

struct Sender {
    SequenceNumber32 highest{0};
    bool first = true;
};
std::map<const TcpSocketBase*, Sender> senders;

void onTransmit(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket) {
    if (packet->GetSize() == 0) {
        return;
    }
    auto& sender = senders[PeekPointer(socket)];
    const SequenceNumber32 end = header.GetSequenceNumber() + SequenceNumber32(packet->GetSize());
    if (!sender.first && end <= sender.highest) {
        retransmissions++;
    } else {
        sender.highest = end;
        sender.first = false;
    }
}

void onState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t to) {
    timeouts += to == TcpSocketState::CA_LOSS ? 1 : 0;
}

void onReceive(size_t flow, Ptr<const Packet> packet, const Address&) {
    flows[flow].received += packet->GetSize();
    if (flows[flow].received >= flows[flow].bytes) {
        flows[flow].end = Simulator::Now();
    }
}

void watch(Ptr<BulkSendApplication> application) {
    Ptr<Socket> socket = application->GetSocket();
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&onTransmit));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&onState));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: flows ALGORITHM PATTERN HOSTS BYTES\n";
        return 2;
    }
    const std::string algorithm = argv[1], pattern = argv[2];
    const size_t hosts = std::strtoul(argv[3], nullptr, 10);
    const uint64_t bytes = std::strtoull(argv[4], nullptr, 10);
    const bool marks = algorithm == "ecn" || algorithm == "dctcp";

    const std::map<std::string, std::string> types = {{"ecn", "ns3::TcpLinuxReno"}, {"dctcp", "ns3::TcpDctcp"},
                                                      {"cubic", "ns3::TcpCubic"}, {"vegas", "ns3::TcpVegas"}};
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(types.at(algorithm)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpPrrRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(marks ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(20)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));

    NodeContainer nodes;
    nodes.Create(hosts);
    Ptr<Node> router = CreateObject<Node>();
    InternetStackHelper stack;
    stack.Install(nodes);
    stack.Install(router);

    // A packet of 1460 bytes has 1502 bytes on this link and 1538 on Ethernet: the rate makes both take as long.
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(1000000000ull * 1502 / 1538)));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(20)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));

    TrafficControlHelper queue;
    if (marks) {
        queue.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(20), "MaxTh", DoubleValue(20), "QW", DoubleValue(1),
                               "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false), "Gentle", BooleanValue(false),
                               "MaxSize", StringValue("100p"), "LinkBandwidth", StringValue("976Mbps"), "LinkDelay",
                               StringValue("20us"), "MeanPktSize", UintegerValue(1502));
    } else {
        queue.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100p"));
    }
    TrafficControlHelper deep;
    deep.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100000p"));

    Ipv4AddressHelper addresses;
    addresses.SetBase("10.1.0.0", "255.255.255.0");
    std::vector<Ipv4Address> address;
    QueueDiscContainer ports;
    for (size_t host = 0; host < hosts; host++) {
        NetDeviceContainer devices = link.Install(nodes.Get(host), router);
        deep.Install(devices.Get(0));
        ports.Add(queue.Install(devices.Get(1)));
        address.push_back(addresses.Assign(devices).GetAddress(0));
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<std::pair<size_t, size_t>> pairs;
    if (pattern == "one") {
        pairs.emplace_back(1, 0);
    } else if (pattern == "incast") {
        for (size_t host = 1; host < hosts; host++) {
            pairs.emplace_back(host, 0);
        }
    } else {
        for (size_t from = 0; from < hosts; from++) {
            for (size_t to = 0; to < hosts; to++) {
                if (from != to) {
                    pairs.emplace_back(from, to);
                }
            }
        }
    }
    flows.resize(pairs.size());
    for (size_t flow = 0; flow < pairs.size(); flow++) {
        const auto [from, to] = pairs[flow];
        const uint16_t port = 1000 + flow;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        auto receiver = sink.Install(nodes.Get(to));
        receiver.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&onReceive).Bind(flow));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address[to], port));
        bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
        bulk.SetAttribute("SendSize", UintegerValue(14600));
        auto sender = bulk.Install(nodes.Get(from));
        flows[flow].bytes = bytes;
        flows[flow].start = MicroSeconds(11 * (flow + 1));
        sender.Start(flows[flow].start);
        Simulator::Schedule(flows[flow].start + NanoSeconds(1), &watch, DynamicCast<BulkSendApplication>(sender.Get(0)));
    }
    Simulator::Stop(Seconds(20));
    Simulator::Run();

    double sum = 0, last = 0;
    for (const auto& flow : flows) {
        const double took = flow.end.IsZero() ? 20e6 : (flow.end - flow.start).GetNanoSeconds() / 1e3;
        sum += took;
        last = std::max(last, took);
    }
    uint64_t marked = 0, dropped = 0;
    for (uint32_t port = 0; port < ports.GetN(); port++) {
        marked += ports.Get(port)->GetStats().nTotalMarkedPackets;
        dropped += ports.Get(port)->GetStats().nTotalDroppedPackets;
    }
    std::cout << sum / flows.size() << ' ' << last << ' ' << marked << ' ' << dropped << ' ' << retransmissions << ' ' << timeouts
              << '\n';
    Simulator::Destroy();
    return 0;
}
