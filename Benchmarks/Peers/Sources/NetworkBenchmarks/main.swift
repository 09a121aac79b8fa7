import Foundation

// Run by Scripts/benchmark, which starts the server and describes it in environment variables.
let server = try Server()
let parts = Set(CommandLine.arguments.dropFirst())
func wants(_ part: String) -> Bool { parts.isEmpty || parts.contains { $0.hasPrefix(part) } }
func wants(_ part: String, _ variant: Int) -> Bool {
    !parts.contains { $0.hasPrefix(part) } || parts.contains(part) || parts.contains("\(part)-\(variant)")
}

if wants("small") {
    for inFlight in [1, 16, 64] where wants("small", inFlight) {
        try await compareSmall(server, inFlight: inFlight, rounds: 9)
    }
}
if wants("cached") {
    try await compareCached(server, "2k", bytes: 2_048, repetitions: 2_000)
    try await compareCached(server, "1m", bytes: 1_000_000, repetitions: 100)
}
if wants("http2") { try await compareHTTP2(server, rounds: 9) }
if wants("handshakes") { try await compareHandshakes(server, rounds: 9) }
if wants("coded") { try await compareCoded(server, "10m-gzip", megabytes: 10, rounds: 9, repetitions: 5) }
if wants("large") {
    try await compareLarge(server, "10m", megabytes: 10, rounds: 9, repetitions: 10)
    try await compareLarge(server, "1g", megabytes: 1024, rounds: 3, repetitions: 1)
}
