// The same flood with ns-3's own nodes, devices, channels and packets of 112 bytes.
// One delay: a SimpleChannel a node, on which its neighbours listen. A delay a link: a SimpleChannel
// a directed link. Rates of data are endless and no stack is installed, which flatters ns-3.
// Prints: deliveries, events that ns-3 executed, seconds of Simulator::Run, bytes of the process.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include <chrono>
#include <cstdio>
#include <fstream>
#include <vector>

using namespace ns3;

static std::vector<uint32_t> start;
static std::vector<int32_t> who;
static std::vector<float> delay;
static std::vector<std::vector<Ptr<SimpleNetDevice>>> speakers; // of each node
static std::vector<uint8_t> seen;
static uint32_t n, events;
static Time wait;
static uint64_t delivered = 0;

static void Repeat(uint32_t node, uint32_t event) {
    delivered++;
    uint8_t record[112] = {};
    *reinterpret_cast<uint32_t*>(record) = event;
    for (auto& speaker : speakers[node])
        speaker->Send(Create<Packet>(record, sizeof record), Mac48Address::GetBroadcast(), 1);
}
static void Hear(uint32_t node, uint32_t event) {
    delivered++;
    uint8_t& heard = seen[size_t(node) * events + event];
    if (heard) return;
    heard = 1;
    Simulator::Schedule(wait, &Repeat, node, event);
}
static bool Receive(Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t, const Address&) {
    uint32_t event;
    packet->CopyData(reinterpret_cast<uint8_t*>(&event), sizeof event);
    Hear(device->GetNode()->GetId(), event);
    return true;
}
static Ptr<SimpleNetDevice> On(Ptr<SimpleChannel> channel, uint32_t node, bool listens) {
    auto device = CreateObject<SimpleNetDevice>();
    device->SetNode(NodeList::GetNode(node));
    device->SetChannel(channel);
    if (listens) device->SetReceiveCallback(MakeCallback(&Receive));
    return device;
}
static Ptr<SimpleChannel> Air(double seconds) {
    auto channel = CreateObject<SimpleChannel>();
    channel->SetAttribute("Delay", TimeValue(Seconds(seconds)));
    return channel;
}
template <class T> static void Read(std::ifstream& file, std::vector<T>& whole, size_t count) {
    whole.resize(count);
    file.read(reinterpret_cast<char*>(whole.data()), count * sizeof(T));
}
static long Field(const char* name) { // of /proc/self/status, KiB
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == name) {
            long size;
            status >> size;
            return size;
        }
    return 0;
}

int main(int, char** argument) { // file n m events hop wait delays?
    std::ifstream file(argument[1], std::ios::binary);
    n = std::stoul(argument[2]), events = std::stoul(argument[4]);
    double hop = std::stod(argument[5]);
    wait = Seconds(std::stod(argument[6]));
    std::vector<int32_t> publisher;
    Read(file, start, n + 1), Read(file, who, std::stoul(argument[3]));
    Read(file, publisher, events);
    if (std::stoi(argument[7])) Read(file, delay, who.size());
    long before = Field("VmRSS:");
    NodeContainer nodes;
    nodes.Create(n);
    seen.resize(size_t(n) * events), speakers.resize(n);
    for (uint32_t i = 0; i < n; i++) {
        Ptr<SimpleChannel> channel;
        for (uint32_t g = start[i]; g < start[i + 1]; g++) {
            if (!channel || !delay.empty()) {
                channel = Air(delay.empty() ? hop : delay[g]);
                speakers[i].push_back(On(channel, i, false));
            }
            On(channel, who[g], true);
        }
    }
    for (uint32_t e = 0; e < events; e++) Simulator::Schedule(Seconds(e), &Hear, publisher[e], e);
    auto begun = std::chrono::steady_clock::now();
    Simulator::Run();
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    std::printf("%lu %lu %.9f %ld\n", delivered, Simulator::GetEventCount(), taken.count(),
                (Field("VmHWM:") - before) * 1024);
}
