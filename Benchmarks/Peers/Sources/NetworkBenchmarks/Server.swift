import Foundation

/// The server that `Scripts/benchmark` has started, as it tells of it in the environment.
struct Server: Sendable {
    /// Without TLS.
    let plain: URL
    /// With TLS and HTTP/2.
    let secure: URL
    /// With TLS; it resumes no session and closes each connection after one response.
    let handshakes: URL
    /// The trusted certificates, those of the system and the server's own.
    let roots: String
    /// The server's own.
    let certificate: URL
    /// What runs wrk, on the same core as this process; `nil` where it isn't installed.
    let wrk: String?
    /// Whether Foundation trusts the server.
    let isTrustedByFoundation: Bool
    /// Where files may be written.
    let directory: String

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        func value(_ name: String) throws -> String {
            guard let value = environment["BENCHMARK_\(name)"] else { throw MissingServer(name: "BENCHMARK_\(name)") }
            return value
        }
        func url(_ name: String) throws -> URL {
            guard let url = URL(string: try value(name)) else { throw MissingServer(name: "BENCHMARK_\(name)") }
            return url
        }
        plain = try url("PLAIN")
        secure = try url("SECURE")
        handshakes = try url("HANDSHAKES")
        roots = try value("ROOTS")
        certificate = URL(filePath: try value("CERTIFICATE"))
        wrk = environment["BENCHMARK_WRK"]
        isTrustedByFoundation = environment["BENCHMARK_TRUSTED"] != nil
        directory = try value("DIRECTORY")
    }
}

struct MissingServer: Error, CustomStringConvertible {
    let name: String
    var description: String { "\(name) is not set: run Scripts/benchmark, which starts the server." }
}
