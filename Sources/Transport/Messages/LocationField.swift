package import Foundation
internal import InterceptorsSyntax

/// The value of a `Location` field (RFC 9110 §10.2.2).
package enum LocationField {
    /// The URL that a `Location` names, or `nil` for a text that isn't one.
    ///
    /// - Parameters:
    ///   - location: the value. It may be relative.
    ///   - base: the URL of the request. A `Location` without a fragment inherits its fragment.
    package static func url(_ location: String, from base: URL) -> URL? {
        guard let reference = URLReference(location), let base = URLReference(base.absoluteString) else { return nil }
        var target = reference.resolved(against: base)
        target.fragment = target.fragment ?? base.fragment
        guard let scheme = target.scheme else { return nil }
        guard scheme == "http" || scheme == "https" else { return URL(string: target.text) }
        guard let authority = target.authority, !authority.isEmpty, let url = URL(string: target.text),
            Origin(url) != nil, (url.port).map({ (1...65535).contains($0) }) ?? true
        else { return nil }
        return url
    }
}
