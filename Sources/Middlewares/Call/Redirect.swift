public import Foundation

/// One redirect of a call: the response's status, and the URLs it led from and to.
///
/// The descriptions redact secrets in both URLs.
public struct Redirect: Sendable {
    /// The status of the redirect: 301, 302, 303, 307 or 308.
    public let status: HTTPResponse.Status
    /// The method of the request that was redirected.
    public let method: HTTPRequest.Method
    /// The URL of the redirect response.
    public let url: URL
    /// The absolute URL that the redirect points to.
    public let target: URL

    /// Creates a record of a redirect.
    public init(status: HTTPResponse.Status, method: HTTPRequest.Method, url: URL, target: URL) {
        self.status = status
        self.method = method
        self.url = url
        self.target = target
    }

    /// Whether the server acted on an unsafe request and the next request only retrieves the result.
    var changesMethod: Bool { !method.isSafe && Self.dropsContent(status, method) }

    /// Whether the next request is a GET or HEAD without content: RFC 9110 §15.4.4 for 303, §15.4.2 and §15.4.3 for 301 and
    /// 302 after POST.
    static func dropsContent(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method) -> Bool {
        switch status.code {
        case 303: true
        case 301, 302: method == .post
        default: false
        }
    }
}

extension Redirect: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The redirect on one line, such as `302 GET https://h/a -> https://h/b`, with secrets redacted.
    public var description: String {
        let (from, to) = (Redaction.standard.string(for: url), Redaction.standard.string(for: target))
        return "\(status.code) \(method) \(from) -> \(to)"
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror of ``description``, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["redirect": description]) }
}

/// The redirects of a call, for the description of its error.
private struct Redirects: ContextNote {
    var all: [Redirect] = []

    var note: String? {
        all.isEmpty ? nil : "Redirected \(all.count == 1 ? "once" : "\(all.count) times"): \(Redirect.path(all))."
    }
}

extension Redirect {
    /// The redirects on one line, such as `302 https://h/a -> 301 https://h/b -> https://h/c`, with secrets redacted. If there
    /// are many redirects, the middle ones are left out. Long URLs are cut at the end.
    static func path(_ redirects: [Redirect]) -> String {
        var stops = redirects.map { "\($0.status.code) \(shown($0.url))" }
        if let last = redirects.last { stops.append(shown(last.target)) }
        return stops.shortened(" -> ")
    }

    private static func shown(_ url: URL) -> String {
        let text = Redaction.standard.string(for: url)
        return text.utf8.count <= 160 ? text : text.prefix(160) + "…"
    }
}

extension [String] {
    /// The elements, joined. If there are more than five, shows the first two, the last two, and the number of elements in
    /// between.
    package func shortened(_ separator: String) -> String {
        guard count > 5 else { return joined(separator: separator) }
        return (prefix(2) + ["… \(count - 4) more …"] + suffix(2)).joined(separator: separator)
    }
}

extension HTTPContext {
    private enum RedirectsKey: HTTPContextKey { static var defaultValue: Redirects { Redirects() } }

    /// On a response or an error: the redirects that led to it, in order; empty if there were none.
    public var redirects: [Redirect] {
        get { self[RedirectsKey.self].all }
        set { self[RedirectsKey.self] = Redirects(all: newValue) }
    }

    /// Whether the server acted on the original request and then redirected to a retrieval. The response or error is then
    /// about the retrieval, and the original request must not be sent again because of it.
    package var hasChangedMethod: Bool { redirects.contains(where: \.changesMethod) }
}
