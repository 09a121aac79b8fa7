package import Foundation

/// The text about a redirect that nothing followed.
package enum UnfollowedRedirect {
    /// Where the response leads, and how to follow it; `nil` if its status isn't a redirect's.
    ///
    /// - Parameters:
    ///   - url: the URL that responded, to which a relative `Location` refers.
    ///   - remedy: the part of the sentence after the target, such as `and nothing followed it. Add .followRedirects().`
    package static func text(_ response: HTTPResponse, from url: URL, remedy: String) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status.code) else { return nil }
        guard let location = response.headers[values: .location].first, !location.isEmpty else {
            return "is a redirect without a Location: there is nothing to follow."
        }
        guard let target = URL(string: location, relativeTo: url)?.absoluteURL, target.scheme != nil else {
            return "is a redirect whose Location is not a URL: there is nothing to follow."
        }
        return "redirects to \(Redaction.standard.string(for: target)), \(remedy)"
    }
}
