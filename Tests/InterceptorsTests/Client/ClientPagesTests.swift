import Foundation
import InterceptorsCore
import InterceptorsTesting
import Testing

private struct FilmPage: Decodable, Sendable {
    var films: [Int]
    var next: URL?
}

@Suite(.againstHanging) struct ClientPagesTests {
    private let stub = StubTransport()

    private func page(_ json: String, link: String? = nil) -> StubAnswer {
        .status(200, headers: link.map { ["Link": $0] } ?? [:], body: HTTPBody(json))
    }

    @Test func linksLeadFromPageToPage() async throws {
        stub.enqueue(
            page("[1,2]", link: "<?cursor=a%2Fb>; rel=\"next\", </v1/films>; rel=\"first\""),
            page("[3]", link: "<https://api.example.com/x?page=3>; rel=next"),
            page("[]")
        )
        var films: [Int] = []
        for try await page in makeClient(stub).pages("/films", as: [Int].self, query: ["q": 1], next: .link) {
            films += page
        }
        #expect(films == [1, 2, 3])
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                "https://api.example.com/v1/films?q=1", "https://api.example.com/v1/films?cursor=a%2Fb",
                "https://api.example.com/x?page=3",
            ]
        )
    }

    @Test func aClosureFindsTheNextPage() async throws {
        stub.enqueue(page(#"{"films":[1],"next":"/v1/films?page=2"}"#), page(#"{"films":[2]}"#))
        let pages = makeClient(stub).pages("/films", as: FilmPage.self, next: .at { page, _ in page.next })
        var films: [Int] = []
        for try await page in pages { films += page.films }
        #expect(films == [1, 2])
        #expect(stub.requests.last?.url.absoluteString == "https://api.example.com/v1/films?page=2")
    }

    @Test func aClosureFindsTheNextPageAsText() async throws {
        struct Page: Decodable, Sendable {
            let films: [Int]
            let next: String?
        }
        stub.enqueue(page(#"{"films":[1],"next":"/v1/films?q=a b&page=2"}"#), page(#"{"films":[2]}"#))
        let pages = makeClient(stub).pages("/films", as: Page.self, next: .at { page, _ in page.next })
        var films: [Int] = []
        for try await page in pages { films += page.films }
        #expect(films == [1, 2])
        #expect(stub.requests.last?.url.absoluteString == "https://api.example.com/v1/films?q=a%20b&page=2")
    }

    @Test func aPageIsFetchedOnlyWhenAskedFor() async throws {
        stub.enqueue(page("[1]", link: "</v1/films?page=2>; rel=next"), page("[2]"))
        var iterator = makeClient(stub).pages("/films", as: [Int].self, next: .link).makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        #expect(stub.requests.count == 1)
    }

    @Test func anErrorEndsTheList() async throws {
        stub.enqueue(page("[1]", link: "</v1/films?page=2>; rel=next"), .status(500))
        var iterator = makeClient(stub).pages("/films", as: [Int].self, next: .link).makeAsyncIterator()
        _ = try await iterator.next()
        await #expect(throws: ResponseDecodingError.self) { try await iterator.next() }
        let last = try await iterator.next(isolation: #isolation)
        #expect(last == nil)
        #expect(stub.requests.count == 2)
    }

    @Test func fieldsAndContextGoWithEachPage() async throws {
        stub.enqueue(page("[1]", link: "</v1/films?page=2>; rel=next"), page("[2]"))
        let context = HTTPContext.with(\.timeouts, Timeouts(idle: .seconds(3)))
        let pages = makeClient(stub).pages(
            "/films",
            as: [Int].self,
            headers: ["X-A": "b"],
            context: context,
            next: .link
        )
        for try await _ in pages {}
        #expect(stub.requests.map { $0.headers["X-A"] } == ["b", "b"])
        #expect(stub.requests.allSatisfy { $0.context.timeouts?.idle == .seconds(3) })
    }

    @Test(arguments: [
        "<https://evil.example/x>; rel=next", "<http://api.example.com/v1/films?page=2>; rel=next",
        "<//evil.example/x>; rel=next", "<>; rel=next", "</v1/films>; rel=next", "<//a\\b/x>; rel=next",
    ])
    func aLinkElsewhereOrToTheSamePageIsAnError(link: String) async throws {
        stub.enqueue(page("[1]", link: link), page("[2]"))
        let pages = makeClient(stub).pages("/films", as: [Int].self, headers: ["X-API-Key": "key"], next: .link)
        let error = await #expect(throws: TransportError.self) { for try await _ in pages {} }
        #expect(error?.code == .unsupportedURL)
        #expect(stub.requests.count == 1)
    }
}
