#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting

// NetworkProcess IP
//
// Changes the network interfaces with the program at the path IP, and prints what the system's monitor says. It runs in a
// network namespace that has nothing but a loopback interface.

let ip = CommandLine.arguments.dropFirst().first ?? "ip"
let url = URL(string: "https://api.example.com/")!

func change(_ arguments: String) async throws {
    let result = try await Command.run(ip, arguments.split(separator: " ").map(String.init))
    guard result.status == 0 else {
        print("ip \(arguments): \(result.complaint)")
        exit(1)
    }
}

/// The sockets of this process.
func sockets() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix("socket") == true
    }.count
}

func word(_ path: NetworkPath) -> String {
    path.isSatisfied.map { $0 ? "satisfied" : "unsatisfied" } ?? "unknown"
}

/// Says what the monitor does if the process can open no descriptor.
func withoutDescriptors() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
    let path = NetworkPathMonitor.system.path
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    print("without netlink: \(word(path))")
}

/// Follows the path while interfaces come and go.
func follow() async throws {
    let monitor = NetworkPathMonitor.system
    print("without interfaces: \(word(monitor.path)), sockets: \(try sockets())")
    print("shared: \(NetworkPathMonitor.system === monitor)")
    // Time stands still, so nothing but a report of the kernel ends a wait.
    let clock = ManualClock()
    let stub = StubTransport()
    stub.on(.get, "/", .status(200))
    let client = Client(interceptors: [.waitForNetwork(upTo: .seconds(1), time: .manual(clock))], transport: stub)
    for address in ["10.9.8.7/24", "2001:db8::7/64"] {
        let call = Task { try await client.send(HTTPRequest(url: url)) }
        await clock.sleepers(1)
        try await change("link add one type veth peer name two")
        try await change("address add \(address) dev one")
        try await change("link set two up")
        try await change("link set one up")
        print("\(address): sent after a wait: \(try await call.value.context.networkWait != nil)")
        // The other end of the cable is unplugged.
        try await change("link set two down")
        while monitor.path != .unsatisfied { await Task.yield() }
        print("without a carrier: \(word(monitor.path))")
        try await change("link delete one")
    }
}

withoutDescriptors()
let before = try sockets()
try await follow()
while try sockets() > before { await Task.yield() }
print("sockets after the last user: \(try sockets() - before)")
#endif
