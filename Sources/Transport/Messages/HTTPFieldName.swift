internal import InterceptorsSyntax

extension HTTPField {
    /// A field's name, compared without regard to ASCII case and kept in its original spelling (RFC 9110 §5.1).
    ///
    /// Common names are static members. Write other names as literals, and pass untrusted text to the failable initializer.
    ///
    /// ```swift
    /// request.headers[.accept] = "application/json"
    /// request.headers["X-Client"] = "ios"
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

        package init(unchecked name: String) {
            rawName = name
            var hash: UInt32 = 2_166_136_261
            var isToken = !name.isEmpty
            for byte in name.utf8 {
                isToken = isToken && ASCII.isToken(byte)
                hash = (hash ^ UInt32(ASCII.lowercased(byte))) &* 16_777_619
            }
            (foldedHash, isValid) = (hash, isToken)
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

extension HTTPField.Name {
    /// `Accept`: media types that the client accepts (RFC 9110 §12.5.1).
    public static let accept = Self(unchecked: "Accept")
    /// `Accept-Encoding`: content codings that the client accepts (RFC 9110 §12.5.3).
    public static let acceptEncoding = Self(unchecked: "Accept-Encoding")
    /// `Accept-Language`: languages that the client prefers (RFC 9110 §12.5.4).
    public static let acceptLanguage = Self(unchecked: "Accept-Language")
    /// `Accept-Ranges`: units of ranges that the server supports (RFC 9110 §14.3).
    public static let acceptRanges = Self(unchecked: "Accept-Ranges")
    /// `Age`: seconds since a stored response was created or confirmed (RFC 9111 §5.1).
    public static let age = Self(unchecked: "Age")
    /// `Allow`: methods that the resource supports (RFC 9110 §10.2.1).
    public static let allow = Self(unchecked: "Allow")
    /// `Authorization`: credentials for the server (RFC 9110 §11.6.2).
    public static let authorization = Self(unchecked: "Authorization")
    /// `Cache-Control`: directives for caches (RFC 9111 §5.2).
    public static let cacheControl = Self(unchecked: "Cache-Control")
    /// `Cache-Status`: how caches handled the request (RFC 9211).
    public static let cacheStatus = Self(unchecked: "Cache-Status")
    /// `Connection`: options of this connection (RFC 9110 §7.6.1).
    public static let connection = Self(unchecked: "Connection")
    /// `Content-Disposition`: whether to show or save the content, and its file name (RFC 6266).
    public static let contentDisposition = Self(unchecked: "Content-Disposition")
    /// `Content-Encoding`: codings applied to the content (RFC 9110 §8.4).
    public static let contentEncoding = Self(unchecked: "Content-Encoding")
    /// `Content-Language`: languages of the intended audience (RFC 9110 §8.5).
    public static let contentLanguage = Self(unchecked: "Content-Language")
    /// `Content-Length`: length of the content in bytes (RFC 9110 §8.6).
    public static let contentLength = Self(unchecked: "Content-Length")
    /// `Content-Location`: URL of the content sent (RFC 9110 §8.7).
    public static let contentLocation = Self(unchecked: "Content-Location")
    /// `Content-Range`: range of a partial response (RFC 9110 §14.4).
    public static let contentRange = Self(unchecked: "Content-Range")
    /// `Content-Type`: media type of the content (RFC 9110 §8.3).
    public static let contentType = Self(unchecked: "Content-Type")
    /// `Cookie`: cookies for the server (RFC 6265 §4.2).
    public static let cookie = Self(unchecked: "Cookie")
    /// `Date`: when the message was created (RFC 9110 §6.6.1).
    public static let date = Self(unchecked: "Date")
    /// `ETag`: validator of a version of the resource (RFC 9110 §8.8.3).
    public static let eTag = Self(unchecked: "ETag")
    /// `Expect`: expectations such as `100-continue` (RFC 9110 §10.1.1).
    public static let expect = Self(unchecked: "Expect")
    /// `Expires`: when a response becomes stale (RFC 9111 §5.3).
    public static let expires = Self(unchecked: "Expires")
    /// `Host`: host and port of the server (RFC 9110 §7.2).
    public static let host = Self(unchecked: "Host")
    /// `Idempotency-Key`: key that makes a request safe to repeat (IETF draft).
    public static let idempotencyKey = Self(unchecked: "Idempotency-Key")
    /// `If-Match`: proceeds only for these versions (RFC 9110 §13.1.1).
    public static let ifMatch = Self(unchecked: "If-Match")
    /// `If-Modified-Since`: asks for a version newer than a date (RFC 9110 §13.1.3).
    public static let ifModifiedSince = Self(unchecked: "If-Modified-Since")
    /// `If-None-Match`: asks for any version but these (RFC 9110 §13.1.2).
    public static let ifNoneMatch = Self(unchecked: "If-None-Match")
    /// `If-Range`: asks for a range only of this version (RFC 9110 §13.1.5).
    public static let ifRange = Self(unchecked: "If-Range")
    /// `If-Unmodified-Since`: proceeds only without a change since a date (RFC 9110 §13.1.4).
    public static let ifUnmodifiedSince = Self(unchecked: "If-Unmodified-Since")
    /// `Keep-Alive`: limits of a persistent connection (RFC 2068 §19.7.1).
    public static let keepAlive = Self(unchecked: "Keep-Alive")
    /// `Last-Event-ID`: the last event of a stream that is continued (HTML Living Standard §9.2.4).
    public static let lastEventID = Self(unchecked: "Last-Event-ID")
    /// `Last-Modified`: when the resource was last changed (RFC 9110 §8.8.2).
    public static let lastModified = Self(unchecked: "Last-Modified")
    /// `Link`: related resources, such as the next page (RFC 8288).
    public static let link = Self(unchecked: "Link")
    /// `Location`: target of a redirect, or the created resource (RFC 9110 §10.2.2).
    public static let location = Self(unchecked: "Location")
    /// `Origin`: origin that caused the request (RFC 6454 §7).
    public static let origin = Self(unchecked: "Origin")
    /// `Pragma`: `no-cache` for HTTP/1.0 caches (RFC 9111 §5.4).
    public static let pragma = Self(unchecked: "Pragma")
    /// `Proxy-Authenticate`: a proxy's challenges (RFC 9110 §11.7.1).
    public static let proxyAuthenticate = Self(unchecked: "Proxy-Authenticate")
    /// `Proxy-Authorization`: credentials for a proxy (RFC 9110 §11.7.2).
    public static let proxyAuthorization = Self(unchecked: "Proxy-Authorization")
    /// `Range`: the part of the content that is wanted (RFC 9110 §14.2).
    public static let range = Self(unchecked: "Range")
    /// `Referer`: the page that led to the request (RFC 9110 §10.1.3).
    public static let referer = Self(unchecked: "Referer")
    /// `Repr-Digest`: digests of the whole representation, also in a partial response (RFC 9530 §3).
    public static let reprDigest = Self(unchecked: "Repr-Digest")
    /// `Retry-After`: when to try again: seconds or a date (RFC 9110 §10.2.3).
    public static let retryAfter = Self(unchecked: "Retry-After")
    /// `Server`: the server's software (RFC 9110 §10.2.4).
    public static let server = Self(unchecked: "Server")
    /// `Set-Cookie`: a cookie for the client to store (RFC 6265 §4.1).
    public static let setCookie = Self(unchecked: "Set-Cookie")
    /// `TE`: transfer codings that the client accepts (RFC 9110 §10.1.4).
    public static let te = Self(unchecked: "TE")
    /// `traceparent`: trace and span (W3C Trace Context).
    public static let traceparent = Self(unchecked: "traceparent")
    /// `tracestate`: vendors' data about the trace (W3C Trace Context).
    public static let tracestate = Self(unchecked: "tracestate")
    /// `Trailer`: fields that follow the content (RFC 9110 §6.6.2).
    public static let trailer = Self(unchecked: "Trailer")
    /// `TransactionId`: ID of a call, added by `.transactionID()`; no standard defines the field.
    public static let transactionID = Self(unchecked: "TransactionId")
    /// `Transfer-Encoding`: codings of the message's transfer, such as `chunked` (RFC 9112 §6.1).
    public static let transferEncoding = Self(unchecked: "Transfer-Encoding")
    /// `Upgrade`: protocols to switch to (RFC 9110 §7.8).
    public static let upgrade = Self(unchecked: "Upgrade")
    /// `User-Agent`: the client's software (RFC 9110 §10.1.5).
    public static let userAgent = Self(unchecked: "User-Agent")
    /// `Vary`: request fields that selected the response (RFC 9110 §12.5.5).
    public static let vary = Self(unchecked: "Vary")
    /// `Via`: intermediaries on the way (RFC 9110 §7.6.3).
    public static let via = Self(unchecked: "Via")
    /// `WWW-Authenticate`: the server's challenges (RFC 9110 §11.6.1).
    public static let wwwAuthenticate = Self(unchecked: "WWW-Authenticate")
}
