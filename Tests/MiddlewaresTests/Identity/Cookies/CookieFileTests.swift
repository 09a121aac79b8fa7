import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CookieFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")
    private let page = URL(string: "https://api.example.com/")!
    private let reports = Notes<String>()

    private var file: URL { folder.appending(path: "below/cookies.json") }

    private func jar() -> CookieJar { CookieJar(file: file, report: { [reports] in reports.add("\($0)") }) }

    private func names(_ jar: CookieJar) -> [String] { jar.cookies(for: page).map(\.name) }

    @Test func cookiesLastAcrossLaunches() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let jar = jar()
        jar.receive([.setCookie: "session=1"], from: page)
        jar.receive([.setCookie: "lasting=1; Max-Age=60"], from: page)
        await jar.waitUntilPersisted()
        let next = self.jar()
        #expect(names(next) == ["lasting"])
        #expect(next.cookies.first?.value == "1")
        next.removeAll()
        await next.waitUntilPersisted()
        #expect(names(self.jar()).isEmpty)
        #expect(reports.all.isEmpty)
    }

    @Test func onlyTheUserCanReadTheFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let jar = jar()
        for value in 1...3 {
            jar.receive([.setCookie: "a=\(value); Max-Age=60"], from: page)
            await jar.waitUntilPersisted()
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).count == 1)
    }

    @Test func aDamagedFileIsReportedAndTheJarStartsEmpty() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data("[{".utf8).write(to: file)
        let jar = jar()
        #expect(names(jar).isEmpty)
        #expect(reports.all.count == 1)
        jar.receive([.setCookie: "a=1; Max-Age=60"], from: page)
        await jar.waitUntilPersisted()
        #expect(names(self.jar()) == ["a"])
    }

    @Test func aFileThatCannotBeWrittenIsReported() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // A file is where the folder should be.
        try Data().write(to: folder)
        let jar = jar()
        jar.receive([.setCookie: "a=1; Max-Age=60"], from: page)
        await jar.waitUntilPersisted()
        #expect(!reports.all.isEmpty)
        #expect(names(jar) == ["a"])
    }
}
