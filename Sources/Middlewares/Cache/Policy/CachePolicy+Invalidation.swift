internal import Foundation
internal import InterceptorsCore

extension CachePolicy {
    /// The URLs whose stored responses an unsafe request invalidates (RFC 9111 §4.4); empty after an error status. They include
    /// the URLs that redirects have led to.
    static func invalidated(by response: HTTPResponse, to request: HTTPRequest) -> [URL] {
        guard !request.method.isSafe, mayHaveActed(response), let origin = Origin(request.url) else { return [] }
        // A redirect may have led the unsafe request itself to other URLs.
        var urls = [request.url] + response.context.redirects.map(\.target)
        if let url = response.url, url != request.url { urls.append(url) }
        for name in [HTTPField.Name.location, .contentLocation] {
            for value in response.headers[values: name] {
                let base = response.url ?? request.url
                if let url = URL(string: value, relativeTo: base)?.absoluteURL, Origin(url) == origin {
                    urls.append(url)
                }
            }
        }
        return urls
    }

    /// Whether the server may have acted on the request: the status says so, an earlier attempt may have reached the server, or
    /// only a gateway responded. For example, a retried DELETE ends in a 404 if the first attempt succeeded.
    private static func mayHaveActed(_ response: HTTPResponse) -> Bool {
        let code = response.status.code
        return 200..<400 ~= code || code == 502 || code == 504 || !response.context.attempts.isEmpty
    }

    /// Whether an inner interceptor sent the request to another origin, whose cookies don't belong to the request's origin.
    static func isOfAnotherOrigin(_ response: HTTPResponse, _ request: HTTPRequest) -> Bool {
        response.url.map { Origin($0) != Origin(request.url) } ?? false
    }
}
