import Foundation

/// The server that `Scripts/benchmark` started, as described in environment variables.
struct Server: Sendable {
    /// The URL without TLS.
    let plain: URL
    /// The URL with TLS and HTTP/2.
    let secure: URL
    /// The URL with TLS on which the server resumes no session and closes each connection after one response.
    let handshakes: URL
    /// The file of trusted certificates: the system's and the server's.
    let roots: String
    /// The server's certificate.
    let certificate: URL
    /// The command that runs wrk, on the same core as this process; `nil` if wrk isn't installed.
    let wrk: String?
    /// Whether Foundation trusts the server.
    let isTrustedByFoundation: Bool
    /// The directory for temporary files.
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
