#if os(Linux)
internal import Foundation
internal import InterceptorsSyntax

/// The `User-Agent` of requests without one (RFC 9110 §10.1.5), because some servers refuse such requests.
enum UserAgent {
    /// The field as a line for libcurl. As a libcurl option, libcurl would build the line again for each request.
    static let line = "User-Agent: \(value(program: ProcessInfo.processInfo.processName))"

    /// Two products: the program's name, without characters that a token can't contain, and this package.
    static func value(program: String) -> String {
        let token = String(decoding: program.utf8.filter { ASCII.isToken($0) }, as: UTF8.self)
        return token.isEmpty ? "Interceptors" : "\(token) Interceptors"
    }
}
#endif
