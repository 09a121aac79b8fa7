public import Foundation

/// A final response (RFC 9110 §15). Transports never return interim (1xx) responses.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: Status
    /// The header fields. If the transport decoded the content, `Content-Encoding` and `Content-Length` are removed.
    public var headers: HTTPFields
    /// The content: buffered, or streamed if the request's ``HTTPContext/responseBody`` asks for it.
    public var body: HTTPBody
    /// The URL of the request that this response answers; after redirects, the last request's. A transport always sets it.
    public var url: URL?
    /// Values that accompany the response but weren't received: timings, connection, cache status, attempts.
    public var context: HTTPContext

    /// Creates a response.
    public init(
        status: Status,
        headers: HTTPFields = HTTPFields(),
        body: HTTPBody = .empty,
        url: URL? = nil,
        context: HTTPContext = HTTPContext()
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
        self.context = context
    }
}

extension HTTPResponse {
    /// The response without its body, for records that outlive the call: the body would keep its connection.
    package var head: HTTPResponse {
        var head = self
        head.body = .empty
        return head
    }

    /// Whether content can follow the head (RFC 9112 §6.3). If not, its length and coding fields describe the content of
    /// another response.
    package static func hasContent(status code: Int, answering method: HTTPRequest.Method) -> Bool {
        method != .head && code >= 200 && code != 204 && code != 304
    }

    /// Whether these fields with this status redirect: by a status that can, and a `Location` (RFC 9110 §15.4).
    package static func isRedirect(_ status: Status, _ fields: HTTPFields) -> Bool {
        status.canRedirect && fields[values: .location].contains { !$0.isEmpty }
    }

    /// A status: any three-digit code, compared by the code alone (RFC 9110 §15).
    public struct Status: Sendable {
        /// The code, from 100 to 999.
        public let code: Int
        /// The reason phrase as received, or else the registered phrase. Empty if there is neither.
        public var reasonPhrase: String { ownPhrase ?? Self.phrases[code - 100] }

        // The registered phrase is looked up on demand, because a status is created for each comparison with a literal.
        private let ownPhrase: String?

        /// Creates a status. Returns `nil` unless the code has three digits. Without a phrase, the registered one is used.
        public init?(code: Int, reasonPhrase: String? = nil) {
            guard 100...999 ~= code else { return nil }
            self.code = code
            ownPhrase = reasonPhrase
        }

        /// The class of a status, given by its first digit.
        public enum Kind: Sendable {
            /// 1xx
            case informational
            /// 2xx
            case successful
            /// 3xx
            case redirection
            /// 4xx
            case clientError
            /// 5xx
            case serverError
            /// A code outside the five classes, to be treated as a 5xx (RFC 9110 §15).
            case unknown
        }

        /// Whether a response with this status redirects if it has a `Location` (RFC 9110 §15.4).
        package var canRedirect: Bool {
            switch code {
            case 301, 302, 303, 307, 308: true
            default: false
            }
        }

        /// The class of the status.
        public var kind: Kind {
            switch code {
            case 100..<200: .informational
            case 200..<300: .successful
            case 300..<400: .redirection
            case 400..<500: .clientError
            case 500..<600: .serverError
            default: .unknown
            }
        }
    }
}

extension HTTPResponse.Status: Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible, CustomReflectable {
    /// Whether the codes are equal.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Creates a status from a literal, such as `404`.
    ///
    /// - Precondition: the literal has three digits. For an untrusted code, use `init?(code:)`.
    public init(integerLiteral code: Int) {
        guard let status = Self(code: code) else {
            preconditionFailure("A status code has three digits; \(code) has not. For one from outside: init?(code:)")
        }
        self = status
    }

    /// The code and the phrase, such as `404 Not Found`. Secrets that a server put into the phrase are redacted.
    public var description: String {
        let phrase = phrase(redactedBy: .standard)
        return phrase.isEmpty ? "\(code)" : "\(code) \(phrase)"
    }

    /// The phrase with secrets redacted. Registered phrases, which nearly every response has, contain none and skip the search.
    package func phrase(redactedBy redaction: Redaction) -> String {
        let registered = Self.phrases[code - 100]
        guard let ownPhrase, ownPhrase != registered else { return registered }
        return redaction.text(ownPhrase)
    }

    /// The parts of ``description``.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["code": code, "reasonPhrase": phrase(redactedBy: .standard)],
            displayStyle: .struct
        )
    }

    // Indexed by code minus 100, for a fast lookup: a log reads the phrase of each response.
    private static let phrases = (100...999).map { registeredPhrases[$0] ?? "" }

    // RFC 9110 §15 and IANA's registry of HTTP status codes.
    private static let registeredPhrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
        507: "Insufficient Storage", 508: "Loop Detected", 511: "Network Authentication Required",
    ]
}

extension HTTPResponse: CustomStringConvertible {
    /// Status and URL on one line, with secrets in the URL redacted.
    public var description: String {
        let origin = url.map { " from \(Redaction.standard.string(for: $0))" } ?? ""
        return PrintableText.line("\(status)\(origin)")
    }
}

// Names of other libraries, with the name to write instead.
extension HTTPResponse {
    /// Unavailable: see ``status``.
    @available(*, unavailable, renamed: "status.code")
    public var statusCode: Int { status.code }

    /// Unavailable: see ``headers``.
    @available(*, unavailable, renamed: "headers")
    public var headerFields: HTTPFields { headers }

    /// Unavailable: see ``body``.
    @available(
        *,
        unavailable,
        message: "Write `try await response.body.collect(upTo: limit)`, or call with `as: Data.self`."
    )
    public var data: Data { Data() }
}
