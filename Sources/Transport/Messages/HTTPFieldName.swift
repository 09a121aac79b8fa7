internal import HTTPSyntax

extension HTTPField {
    /// A field's name, compared without regard to ASCII case and kept in its original spelling (RFC 9110 §5.1).
    ///
    /// Common names are static members. Write other names as literals, and pass untrusted text to the failable initializer.
    ///
    /// ```swift
    /// request.headerFields[.accept] = "application/json"
    /// request.headerFields["X-Client"] = "ios"
    /// guard let name = HTTPField.Name(untrusted) else { throw BadName() }
    /// ```
    public struct Name: Sendable {
        /// The name in its original spelling.
        public let rawName: String
        // Hash of the lowercased name: most unequal names are told apart without comparing their text.
        let foldedHash: UInt32
        let isValid: Bool

        /// Creates a name from untrusted text. Returns `nil` unless the text is a token (RFC 9110 §5.6.2).
        public init?(_ name: String) {
            self.init(unchecked: name)
            guard isValid else { return nil }
        }

        init(unchecked name: String) {
            rawName = name
            (foldedHash, isValid) = Self.inspect(name.utf8)
        }

        /// Creates a name from a text and its bytes, which the caller already has.
        init(_ name: String, spelled bytes: UnsafeBufferPointer<UInt8>) {
            rawName = name
            (foldedHash, isValid) = Self.inspect(bytes)
        }

        @inline(__always)
        private static func inspect(_ bytes: some Collection<UInt8>) -> (foldedHash: UInt32, isToken: Bool) {
            var hash: UInt32 = 2_166_136_261
            var isToken = !bytes.isEmpty
            for byte in bytes {
                isToken = isToken && ASCII.isToken(byte)
                hash = (hash ^ UInt32(ASCII.lowercased(byte))) &* 16_777_619
            }
            return (hash, isToken)
        }
    }
}

extension HTTPField.Name: Hashable {
    /// Whether both names are equal without regard to ASCII case.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.foldedHash == right.foldedHash else { return false }
        return left.rawName == right.rawName || ASCII.equalIgnoringCase(left.rawName, right.rawName)
    }

    /// Hashes the name without regard to ASCII case.
    public func hash(into hasher: inout Hasher) { hasher.combine(foldedHash) }
}

extension HTTPField.Name: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a name from a literal. If the literal isn't a token, the request is refused when sent.
    public init(stringLiteral name: String) { self.init(unchecked: name) }

    /// The name in its original spelling.
    public var description: String { rawName }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension HTTPField.Name {
    public static let accept = Self(unchecked: "Accept")
    public static let acceptEncoding = Self(unchecked: "Accept-Encoding")
    public static let acceptLanguage = Self(unchecked: "Accept-Language")
    public static let acceptRanges = Self(unchecked: "Accept-Ranges")
    public static let age = Self(unchecked: "Age")
    public static let allow = Self(unchecked: "Allow")
    public static let authorization = Self(unchecked: "Authorization")
    public static let cacheControl = Self(unchecked: "Cache-Control")
    public static let cacheStatus = Self(unchecked: "Cache-Status")
    public static let connection = Self(unchecked: "Connection")
    public static let contentDisposition = Self(unchecked: "Content-Disposition")
    public static let contentEncoding = Self(unchecked: "Content-Encoding")
    public static let contentLanguage = Self(unchecked: "Content-Language")
    public static let contentLength = Self(unchecked: "Content-Length")
    public static let contentLocation = Self(unchecked: "Content-Location")
    public static let contentRange = Self(unchecked: "Content-Range")
    public static let contentType = Self(unchecked: "Content-Type")
    public static let cookie = Self(unchecked: "Cookie")
    public static let date = Self(unchecked: "Date")
    public static let eTag = Self(unchecked: "ETag")
    public static let expect = Self(unchecked: "Expect")
    public static let expires = Self(unchecked: "Expires")
    public static let host = Self(unchecked: "Host")
    public static let idempotencyKey = Self(unchecked: "Idempotency-Key")
    public static let ifMatch = Self(unchecked: "If-Match")
    public static let ifModifiedSince = Self(unchecked: "If-Modified-Since")
    public static let ifNoneMatch = Self(unchecked: "If-None-Match")
    public static let ifRange = Self(unchecked: "If-Range")
    public static let ifUnmodifiedSince = Self(unchecked: "If-Unmodified-Since")
    public static let keepAlive = Self(unchecked: "Keep-Alive")
    public static let lastModified = Self(unchecked: "Last-Modified")
    public static let link = Self(unchecked: "Link")
    public static let location = Self(unchecked: "Location")
    public static let origin = Self(unchecked: "Origin")
    public static let pragma = Self(unchecked: "Pragma")
    public static let proxyAuthenticate = Self(unchecked: "Proxy-Authenticate")
    public static let proxyAuthorization = Self(unchecked: "Proxy-Authorization")
    public static let range = Self(unchecked: "Range")
    public static let referer = Self(unchecked: "Referer")
    public static let retryAfter = Self(unchecked: "Retry-After")
    public static let server = Self(unchecked: "Server")
    public static let setCookie = Self(unchecked: "Set-Cookie")
    public static let te = Self(unchecked: "TE")
    public static let traceparent = Self(unchecked: "traceparent")
    public static let tracestate = Self(unchecked: "tracestate")
    public static let trailer = Self(unchecked: "Trailer")
    public static let transactionID = Self(unchecked: "TransactionId")
    public static let transferEncoding = Self(unchecked: "Transfer-Encoding")
    public static let upgrade = Self(unchecked: "Upgrade")
    public static let userAgent = Self(unchecked: "User-Agent")
    public static let vary = Self(unchecked: "Vary")
    public static let via = Self(unchecked: "Via")
    public static let wwwAuthenticate = Self(unchecked: "WWW-Authenticate")
}
