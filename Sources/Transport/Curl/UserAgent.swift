#if os(Linux)
internal import Foundation
internal import HTTPSyntax

/// The `User-Agent` of requests that have none (RFC 9110 §10.1.5): some servers refuse a request without it.
enum UserAgent {
    /// The field, as a line for libcurl. As an option of libcurl's own, it would be put together anew for each request.
    static let line = "User-Agent: \(value(program: ProcessInfo.processInfo.processName))"

    /// Two products: the program, as far as its name can stand there, and this package.
    static func value(program: String) -> String {
        let token = String(decoding: program.utf8.filter { ASCII.isToken($0) }, as: UTF8.self)
        return token.isEmpty ? "Interceptors" : "\(token) Interceptors"
    }
}
#endif
