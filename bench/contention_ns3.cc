// Broadcasters in ns-3: all in one place, or a line whose ends do not hear each other.
// Compiled on the fly by bench/contention_ns3.py. 802.11a at 12 Mbit/s, no QoS, unit-disk range.

using namespace ns3;
namespace hw {
static std::vector<uint64_t> tx, rx;
static double t0, t1;
void OnTx(uint32_t i, Ptr<const Packet> p, double w) {
  double t = Simulator::Now().GetSeconds();
  if (t >= t0 && t < t1) tx[i]++;
}
bool OnRx(uint32_t i, Ptr<NetDevice> d, Ptr<const Packet> p, uint16_t proto, const Address& from) {
  double t = Simulator::Now().GetSeconds();
  if (t >= t0 && t < t1) rx[i]++;
  return true;
}
void SendOne(Ptr<NetDevice> d, uint32_t bytes) {
  d->Send(Create<Packet>(bytes), d->GetBroadcast(), 0x0800);
}
void SendPoisson(Ptr<NetDevice> d, uint32_t bytes, Ptr<ExponentialRandomVariable> gap) {
  SendOne(d, bytes);
  Simulator::Schedule(Seconds(gap->GetValue()), &SendPoisson, d, bytes, gap);
}
// spacing 0: all in one place; else a line with that spacing, range 15 m. rate 0: saturated.
std::vector<double> run(int n, double spacing, int senders_mask, uint32_t bytes, double rate, double seconds, int seed, int frames) {
  RngSeedManager::SetSeed(1); RngSeedManager::SetRun(seed);
  NodeContainer nodes; nodes.Create(n);
  WifiHelper wifi; wifi.SetStandard(WIFI_STANDARD_80211a);
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate12Mbps"), "ControlMode", StringValue("OfdmRate12Mbps"), "NonUnicastMode", StringValue("OfdmRate12Mbps"));
  YansWifiPhyHelper phy;
  Ptr<YansWifiChannel> ch = CreateObject<YansWifiChannel>();
  Ptr<RangePropagationLossModel> loss = CreateObject<RangePropagationLossModel>();
  loss->SetAttribute("MaxRange", DoubleValue(15.0));
  ch->SetPropagationLossModel(loss);
  ch->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
  phy.SetChannel(ch);
  WifiMacHelper mac; mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
  NetDeviceContainer dev = wifi.Install(phy, mac, nodes);
  wifi.AssignStreams(dev, 100);
  MobilityHelper mob; Ptr<ListPositionAllocator> pos = CreateObject<ListPositionAllocator>();
  for (int i = 0; i < n; i++) pos->Add(Vector(i * spacing, 0, 0));
  mob.SetPositionAllocator(pos); mob.SetMobilityModel("ns3::ConstantPositionMobilityModel"); mob.Install(nodes);
  tx.assign(n, 0); rx.assign(n, 0); t0 = 0.2; t1 = t0 + seconds;
  for (int i = 0; i < n; i++) {
    Ptr<WifiNetDevice> d = DynamicCast<WifiNetDevice>(dev.Get(i));
    d->GetPhy(0)->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&OnTx, (uint32_t)i));
    d->SetReceiveCallback(MakeBoundCallback(&OnRx, (uint32_t)i));
    Ptr<WifiMacQueue> q = d->GetMac()->GetTxop()->GetWifiMacQueue();
    q->SetMaxSize(QueueSize("200000p")); q->SetMaxDelay(Seconds(100000));
    if (!(senders_mask >> i & 1)) continue;
    if (rate > 0) {
      Ptr<ExponentialRandomVariable> gap = CreateObject<ExponentialRandomVariable>();
      gap->SetAttribute("Mean", DoubleValue(1.0 / rate)); gap->SetStream(10000 + i);
      Simulator::Schedule(Seconds(0.1 + gap->GetValue()), &SendPoisson, DynamicCast<NetDevice>(d), bytes, gap);
    } else for (int k = 0; k < frames; k++)
      Simulator::Schedule(Seconds(0.1), &SendOne, DynamicCast<NetDevice>(d), bytes);
  }
  Simulator::Stop(Seconds(t1)); Simulator::Run(); Simulator::Destroy();
  std::vector<double> out;
  for (int i = 0; i < n; i++) out.push_back(tx[i]);
  for (int i = 0; i < n; i++) out.push_back(rx[i]);
  return out;
}
}
