internal import Foundation

/// What a redirect makes of a request (RFC 9110 §15.4), decided without sending anything.
struct RedirectRules: Sendable {
    let redaction: Redaction

    /// Where a response points to.
    enum Destination: Equatable {
        /// It is no redirect to be followed: another status, or no `Location`.
        case none
        case url(URL)
        /// Its `Location` can't be understood.
        case invalid
    }

    /// Whether a status is one of a redirect.
    static func canRedirect(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Where a response points to, seen from the URL that it answers.
    static func destination(of response: HTTPResponse, from base: URL) -> Destination {
        guard canRedirect(response.status) else { return .none }
        let locations = Set(response.headerFields[values: .location])
        // An empty one would name the very URL that has just redirected: nothing to follow, as without one.
        guard let location = locations.first, !(locations.count == 1 && location.isEmpty) else { return .none }
        // Of two that differ one may be forged.
        guard locations.count == 1, let url = resolve(location, from: base) else { return .invalid }
        return .url(url)
    }

    static func resolve(_ location: String, from base: URL) -> URL? {
        guard let reference = URLReference(location), let base = URLReference(base.absoluteString) else { return nil }
        var target = reference.resolved(against: base)
        // RFC 9110 §10.2.2.
        target.fragment = target.fragment ?? base.fragment
        guard let scheme = target.scheme else { return nil }
        guard scheme == "http" || scheme == "https" else { return URL(string: target.text) }
        guard let authority = target.authority, !authority.isEmpty, let url = URL(string: target.text),
            Origin(url) != nil, (url.port).map({ (1...65535).contains($0) }) ?? true
        else { return nil }
        return url
    }

    /// The request that follows one which was redirected.
    func request(after request: HTTPRequest, status: HTTPResponse.Status, to target: URL) -> HTTPRequest {
        var next = request
        next.url = target
        if Self.dropsContent(status, request.method) {
            if request.method != .head { next.method = .get }
            // Said of the method before: a GET may be sent again whatever a POST may.
            if next.method != request.method { next.context.isIdempotent = nil }
            next.body = .empty
            next.headerFields.removeAll { Self.isAboutContent($0.name) }
        }
        let (from, to) = (Origin(request.url), Origin(target))
        if from != to { next.headerFields.removeAll { isBoundToOrigin($0.name) } }
        // RFC 9110 §10.1.3.
        if Self.isDowngrade(from: request.url, to: target) { next.headerFields.remove(.referer) }
        return next
    }

    /// The request that a policy has made of the proposed one. To an origin that was not proposed, nothing bound to an
    /// origin goes that the policy has not set itself.
    func request(_ changed: HTTPRequest, insteadOf proposed: HTTPRequest) -> HTTPRequest {
        guard Origin(changed.url) != Origin(proposed.url) else { return changed }
        var next = changed
        next.headerFields.removeAll { field in
            isBoundToOrigin(field.name) && proposed.headerFields[values: field.name].contains(field.value)
        }
        return next
    }

    /// Whether a redirect leads from https to anything else.
    static func isDowngrade(from url: URL, to target: URL) -> Bool {
        url.scheme?.lowercased() == "https" && target.scheme?.lowercased() != "https"
    }

    /// Whether what follows is a plain retrieval: RFC 9110 §15.4.4 for 303, §15.4.2 and §15.4.3 for 301 and 302 after POST.
    static func dropsContent(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method) -> Bool {
        switch status.code {
        case 303: true
        case 301, 302: method == .post
        default: false
        }
    }

    /// RFC 9110 §8 and §15.4, RFC 9530, and what makes no sense without content.
    static func isAboutContent(_ name: HTTPField.Name) -> Bool {
        switch name {
        case .transferEncoding, .trailer, .expect, .lastModified, "Digest", "Repr-Digest": true
        default: name.rawName.lowercased().hasPrefix("content-")
        }
    }

    /// Whether a field is for the origin alone that the request was made for.
    func isBoundToOrigin(_ name: HTTPField.Name) -> Bool {
        switch name {
        case .authorization, .proxyAuthorization, .cookie, .host: true
        default: redaction.isSensitive(name.rawName)
        }
    }
}
