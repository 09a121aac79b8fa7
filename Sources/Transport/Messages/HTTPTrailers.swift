internal import Synchronization

/// The trailer fields of a response, which follow its content (RFC 9110 §6.5).
///
/// Callers read them by ``HTTPResponse/trailers``. A transport, or an interceptor that answers a request itself, sets
/// ``HTTPContext/trailers``:
///
/// ```swift
/// response.context.trailers = HTTPTrailers(["Server-Timing": "db;dur=53"])     // the content is in memory
///
/// let trailers = HTTPTrailers.pending()                                         // the content is a stream
/// response.context.trailers = trailers
/// response.body = response.body.onEnd { error in
///     if error == nil { trailers.receive(["Server-Timing": "db;dur=53"]) }
/// }
/// ```
/// Trailer fields are never merged into the response's fields. Fields that RFC 9112 §7.1.2 and RFC 9110 §6.5.1 forbid in a
/// trailer are removed:
///
/// - framing and routing: `Connection`, `Content-Length`, `Host`, `Keep-Alive`, `Proxy-Connection`, `TE`, `Trailer`,
///   `Transfer-Encoding`, `Upgrade`;
/// - control: `Age`, `Cache-Control`, `Date`, `Expect`, `Expires`, `Location`, `Max-Forwards`, `Pragma`, `Range`, `Retry-After`,
///   `Vary`, `Warning`, and the conditional fields that begin with `If-`;
/// - authentication and cookies: `Authorization`, `Cookie`, `Proxy-Authenticate`, `Proxy-Authorization`, `Set-Cookie`,
///   `WWW-Authenticate`;
/// - the content: `Content-Encoding`, `Content-Language`, `Content-Location`, `Content-Range`, `Content-Type`.
public struct HTTPTrailers: Sendable {
    private enum Storage: Sendable {
        case known(HTTPFields)
        case pending(PendingTrailers)
    }

    // The fields as they were given, forbidden ones included.
    private let storage: Storage

    /// Creates the trailer fields of content that has ended; empty if the content had none.
    public init(_ fields: HTTPFields) { storage = .known(fields) }

    private init(_ pending: PendingTrailers) { storage = .pending(pending) }

    /// Creates the trailer fields of a stream that hasn't ended. Its producer calls ``receive(_:)`` at the end of the stream.
    public static func pending() -> Self { Self(PendingTrailers()) }

    /// The fields; `nil` until the content has ended, or if the source can't tell.
    public var fields: HTTPFields? {
        let given: HTTPFields? =
            switch storage {
            case .known(let fields): fields
            case .pending(let pending): pending.end.withLock { $0 ?? nil }
            }
        guard let given, given.contains(where: Self.isForbidden) else { return given }
        return HTTPFields(given.filter { !Self.isForbidden($0) })
    }

    private static func isForbidden(_ field: HTTPField) -> Bool {
        field.invalidity != nil || forbidden.contains(field.name)
    }

    /// Whether the content has ended, and its trailer fields aren't known.
    var areUnavailable: Bool {
        guard case .pending(let pending) = storage else { return false }
        return pending.end.withLock { end in if case .some(.none) = end { true } else { false } }
    }

    /// Sets the fields at the end of the content, before the reader sees the end. The first call counts; later calls and
    /// calls on known fields change nothing.
    ///
    /// - Parameter fields: the fields; empty if the content had none, `nil` if the source can't tell.
    public func receive(_ fields: HTTPFields?) {
        guard case .pending(let pending) = storage else { return }
        pending.end.withLock { if $0 == nil { $0 = .some(fields) } }
    }

    // Framing, routing, request modifiers, authentication, response control data, and processing of the content, in the order
    // of RFC 7230 §4.1.2, which names the groups that RFC 9110 §6.5.1 refers to.
    private static let forbidden: Set<HTTPField.Name> = [
        "Connection", "Content-Length", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
        "Upgrade", "Host",
        "Cache-Control", "Expect", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since",
        "Max-Forwards", "Pragma", "Range",
        "Authorization", "Cookie", "Proxy-Authenticate", "Proxy-Authorization", "Set-Cookie", "WWW-Authenticate",
        "Age", "Date", "Expires", "Location", "Retry-After", "Vary", "Warning",
        "Content-Encoding", "Content-Language", "Content-Location", "Content-Range", "Content-Type",
    ]
}

/// The trailer fields of a stream.
private final class PendingTrailers: Sendable {
    /// `nil` until the stream's end, and then the fields, if they are known.
    let end = Mutex<HTTPFields??>(nil)
}

extension HTTPTrailers: CustomStringConvertible, CustomReflectable {
    /// One line for each field, with sensitive values redacted; "pending" before the end of the content.
    public var description: String { fields?.description ?? (areUnavailable ? "unavailable" : "pending") }

    /// The fields, with sensitive values redacted.
    public var customMirror: Mirror {
        Mirror(self, children: ["fields": fields as Any], displayStyle: .struct)
    }
}

extension HTTPResponse {
    /// The trailer fields, which a server sends after the content (RFC 9110 §6.5); empty if it sent none.
    ///
    /// ```swift
    /// let response = try await client.send(request)
    /// for try await chunk in response.body { hasher.update(chunk) }
    /// let digest = try response.trailers["Repr-Digest"]
    /// ```
    /// The fields are known when the content has ended: at once for a buffered response, and for a streamed response when its
    /// reader has reached the end. The property never waits. It keeps its value while interceptors wrap, map or buffer the
    /// body, because the fields travel in ``context``.
    ///
    /// The fields come from the server, like ``headers``, but they arrive after those were acted on. They are kept apart
    /// for that reason, and ``HTTPTrailers`` names the fields that are removed.
    ///
    /// No transport adds `TE: trailers`, without which some servers send none (RFC 9110 §10.1.4).
    ///
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/trailersNotReceived`` if the content hasn't been read to its end,
    ///   whether it is unread, failed or was discarded; with ``HTTPErrorCode/trailersUnavailable`` if the source of the
    ///   response doesn't report trailers. `URLSessionTransport`, the entries of a cache and the answers of a folder never do, and
    ///   libcurl doesn't over HTTP/2 where the response announces its length.
    public var trailers: HTTPFields {
        // Untyped: with `throws(TransportError)`, Swift 6.3 crashes on a `do` block whose only errors are these.
        get throws {
            guard let trailers = context.trailers, !trailers.areUnavailable else {
                throw TransportError(
                    .trailersUnavailable,
                    "The source of this response doesn't tell whether there were trailer fields: see HTTPResponse.trailers."
                )
            }
            guard let fields = trailers.fields else {
                throw TransportError(
                    .trailersNotReceived,
                    "Trailer fields follow the content, which wasn't read to its end. Read the body first."
                )
            }
            return fields
        }
    }
}

extension HTTPErrorCode {
    /// `TransportError`: ``HTTPResponse/trailers`` was read although the response's source doesn't report trailer fields.
    public static let trailersUnavailable = Self(rawValue: "trailersUnavailable")
    /// `TransportError`: ``HTTPResponse/trailers`` was read before the content had been read to its end.
    public static let trailersNotReceived = Self(rawValue: "trailersNotReceived")
}
