internal import Foundation
internal import HTTPSyntax

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
    ) -> Pages<Page> {
        let first = AnyEndpoint<Page>(path: path, query: query, headerFields: headers, context: context)
        return Pages(client: self, first: first, next: next)
    }
}

/// Where a page says that the next one is.
public struct NextPage<Page: Sendable>: Sendable {
    let target: @Sendable (Page, HTTPResponse) throws -> RequestTarget?

    /// The `Link` field with the relation `next` (RFC 8288), relative to the URL that responded.
    public static var link: Self {
        Self { _, response in
            guard let text = LinkField.target(of: "next", in: response.headerFields[values: "Link"]),
                let link = URLReference(text)
            else { return nil }
            guard let base = response.url.flatMap({ URLReference($0.absoluteString) }) else {
                return RequestTarget(text: text)
            }
            return RequestTarget(text: link.resolved(against: base).text)
        }
    }

    /// A closure that finds the link in the page or in its response: `.at { page, _ in page.next }`.
    public static func at(
        _ target: @escaping @Sendable (Page, HTTPResponse) throws -> (any RequestTargetConvertible)?
    ) -> Self {
        Self { try target($0, $1)?.requestTarget }
    }
}

/// The pages of a list: see ``Client/pages(_:as:query:headers:context:next:)``.
public struct Pages<Page: Decodable & Sendable>: AsyncSequence, Sendable {
    let client: Client
    let first: AnyEndpoint<Page>
    let next: NextPage<Page>

    /// Fetches one page after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let client: Client
        private let next: NextPage<Page>
        private var endpoint: AnyEndpoint<Page>?

        init(_ pages: Pages) { (client, next, endpoint) = (pages.client, pages.next, pages.first) }

        /// Fetches the next page; `nil` after the last one, or after an error.
        public mutating func next() async throws -> Page? {
            guard var endpoint else { return nil }
            self.endpoint = nil
            let (page, response) = try await client.response(to: endpoint)
            if let target = try next.target(page, response) {
                endpoint.path = target
                endpoint.query = HTTPQuery()
                self.endpoint = endpoint
            }
            return page
        }
    }

    /// Starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
