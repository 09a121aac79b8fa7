public import Foundation
internal import InterceptorsSyntax

extension Client {
    /// The pages of a list, each with its link to the next.
    ///
    /// ```swift
    /// for try await films in api.pages("/films", as: [Film].self, next: .link) {
    ///     print(films.count)
    /// }
    /// ```
    /// Each page is a call through the whole chain, made when the loop asks for the page. Leaving the loop ends the requests. If
    /// a call fails, the loop throws its error, and a later iteration starts at the first page.
    ///
    /// A link is relative to the URL that responded. A link to another origin, or to the page itself, is an error
    /// (`TransportError.unsupportedURL`), because the fields of the call are for one origin.
    ///
    /// - Parameters:
    ///   - path: the first page: a path below the base URL, or an absolute URL.
    ///   - type: the type to decode each page as.
    ///   - query: the query of the first page, appended to any query in the path. Later pages have the query of their link.
    ///   - headers: the fields of each request.
    ///   - context: values that accompany each request.
    ///   - next: where the next page is. `nil` ends the list.
    public func pages<Page: Decodable & Sendable>(
        _ path: RequestTarget,
        as type: Page.Type = Page.self,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        next: NextPage<Page>
    ) -> some AsyncSequence<Page, any Error> & Sendable {
        let first = EndpointRequest<Page>.get(path, query: query, headers: headers, context: context)
        return UnfoldingSequence(from: { Optional(first) }) { request in
            guard var following = request else { return nil }
            // Set back only after a page, so that nothing follows an error or the end.
            request = nil
            let sent = try await makeRequest(following)
            let url = sent.url
            let (page, response) = try await response(to: sent, as: Page.self)
            if let target = try next.url(after: page, response, from: response.url ?? url) {
                following.path = RequestTarget(target)
                following.query = HTTPQuery()
                request = following
            }
            return page
        }
    }
}

/// Where a page says that the next one is.
public struct NextPage<Page: Sendable>: Sendable {
    /// The link, as text relative to the URL that responded.
    let link: @Sendable (Page, HTTPResponse) throws -> String?

    /// The `Link` field with the relation `next` (RFC 8288).
    public static var link: Self {
        Self { _, response in LinkField.target(of: "next", in: response.headers[values: "Link"]) }
    }

    /// A closure that finds the link in the page or in its response, as text: `.at { page, _ in page.next }`.
    public static func at(_ link: @escaping @Sendable (Page, HTTPResponse) throws -> String?) -> Self {
        Self(link: link)
    }

    /// A closure that finds the link in the page or in its response: `.at { page, _ in page.next }`.
    public static func at(_ url: @escaping @Sendable (Page, HTTPResponse) throws -> URL?) -> Self {
        Self { try url($0, $1)?.absoluteString }
    }

    /// The URL of the next page; `nil` after the last one.
    func url(after page: Page, _ response: HTTPResponse, from url: URL) throws -> URL? {
        guard let text = try link(page, response) else { return nil }
        func refused(_ reason: String) -> TransportError {
            TransportError(.unsupportedURL, "The link to the next page \(reason).", request: HTTPRequest(url: url))
        }
        guard let link = URLReference(text), let base = URLReference(url.absoluteString),
            let target = URL(string: link.resolved(against: base).text)
        else { throw refused("can't be read") }
        // The call's fields, among them credentials, are for this origin.
        guard Origin(target) == Origin(url) else { throw refused("leads to another origin") }
        guard target.absoluteString != url.absoluteString else { throw refused("leads to the same page again") }
        return target
    }
}
