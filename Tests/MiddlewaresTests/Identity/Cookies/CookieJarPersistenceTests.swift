import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging)
struct CookieJarPersistenceTests {
    private let persisted = Shared<[[String]]>([])

    private func jar(_ cookies: [Cookie] = []) -> CookieJar {
        CookieJar(
            cookies,
            persist: { [persisted] cookies in persisted.change { $0.append(cookies.map { "\($0.name)=\($0.value)" }) } }
        )
    }

    private func set(_ jar: CookieJar, _ field: String) throws {
        jar.receive([.setCookie: field], from: try url("https://e.com/"))
    }

    @Test func cookiesArePersistedAfterEachChange() async throws {
        let jar = jar([Cookie(name: "a", value: "0", domain: "e.com")])
        await jar.waitUntilPersisted()
        #expect(persisted.value.isEmpty)
        try set(jar, "b=1; Path=/")
        await jar.waitUntilPersisted()
        jar.insert(Cookie(name: "a", value: "2", domain: "e.com"))
        await jar.waitUntilPersisted()
        try set(jar, "b=; Path=/; Max-Age=0")
        await jar.waitUntilPersisted()
        jar.removeAll()
        await jar.waitUntilPersisted()
        #expect(persisted.value == [["a=0", "b=1"], ["a=2", "b=1"], ["a=2"], []])
    }

    @Test func whatStaysAsItWasIsNoChange() async throws {
        let jar = jar([Cookie(name: "a", value: "1", domain: "e.com", isSecure: false, isHTTPOnly: false)])
        try set(jar, "a=1; Path=/")
        try set(jar, "b=; Max-Age=0")
        jar.removeAll { $0.name == "c" }
        _ = jar.cookies(for: try url("https://e.com/"))
        await jar.waitUntilPersisted()
        #expect(persisted.value.isEmpty)
    }

    @Test func changesDuringACallArePersistedByOneMore() async throws {
        let (began, mayEnd, counts) = (Latch(), Latch(), Shared<[Int]>([]))
        let jar = CookieJar(persist: { cookies in
            counts.change { $0.append(cookies.count) }
            began.open()
            await mayEnd.opened()
        })
        try set(jar, "first=1")
        await began.opened()
        for index in 0..<20 { try set(jar, "c\(index)=1") }
        mayEnd.open()
        await jar.waitUntilPersisted()
        #expect(counts.value == [1, 21])
    }

    @Test func whatWasSetIsPersistedThoughTheJarIsLetGo() async throws {
        let persisted = Latch()
        weak var released: CookieJar?
        do {
            let jar = CookieJar(persist: { cookies in if cookies.map(\.name) == ["a"] { persisted.open() } })
            released = jar
            try set(jar, "a=1")
        }
        #expect(released == nil)
        await persisted.opened()
    }
}
