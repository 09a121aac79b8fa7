import Interceptors
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CacheFieldsFuzzTests {
    private static let pieces = [
        "max-age", "no-store", "no-cache", "private", "max-stale", "=", "=", ",", ",", " ", "\t", "\"", "\\", "\\\"",
        "60",
        "99999999999999999999", "-", "W/", "*", "bytes", "0-4", "/10", "Sun, 06 Nov 1994 08:49:37 GMT", "GMT", ":",
        "Nov",
        "Sunday", "94", "\u{0}", "\u{E9}", "\u{1F600}", ";", "stale-if-error=", "(", "'",
    ]

    private func soup(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...12, using: &generator)).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }
            .joined()
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func noTextTrapsAParserOrGivesANumberBeyondTheCeiling(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let text = soup(&generator)
            let fields: HTTPFields = [
                .cacheControl: text, .age: text, .vary: text, .ifNoneMatch: text, .range: text, .eTag: text,
            ]
            let directives = CacheControl(fields)
            for seconds in [directives.maxAge, directives.maxStale, directives.minFresh, directives.staleIfError] {
                #expect(seconds.value.map { 0...DeltaSeconds.ceiling ~= $0 } ?? true)
            }
            #expect(DeltaSeconds.age(in: fields).map { 0...DeltaSeconds.ceiling ~= $0 } ?? true)
            if let tag = EntityTag(text) { #expect(EntityTag(tag.description) == tag) }
            if case .single(let range) = ByteRange.requested(in: fields), let bytes = range.bytes(of: 10) {
                #expect(!bytes.isEmpty && bytes.lowerBound >= 0 && bytes.upperBound <= 10)
            }
            if let range = ContentRange(text) { #expect(ContentRange(range.description) == range) }
            _ = VaryField(fields)
            _ = EntityTagCondition(fields)
            _ = HTTPDate.parse(text, now: 0)
        }
    }

    // The same directives, shuffled, padded and split over lines, keep their meaning.
    @Test func orderWhitespaceAndLinesDoNotChangeTheMeaning() {
        var generator = SeededGenerator(seed: 42)
        let all = [
            "max-age=60", "no-store", "no-cache=\"a,b\"", "private", "must-revalidate", "public", "x=\"no-store, ,\"",
            "stale-if-error=5", "stale-while-revalidate=\"7\"", "immutable", "unknown=token", "max-stale=3",
        ]
        for _ in 0..<2_000 {
            let chosen = all.filter { _ in Bool.random(using: &generator) }
            var plain = CacheControl([.cacheControl: chosen.joined(separator: ",")])
            var fields = HTTPFields()
            var line = ""
            for directive in chosen.shuffled(using: &generator) {
                line += [" ", "\t", ",", ""].randomElement(using: &generator) ?? ""
                line += directive
                line += [" ,", ",", ", ,"].randomElement(using: &generator) ?? ","
                if Bool.random(using: &generator) {
                    fields.append(.cacheControl, line)
                    line = ""
                }
            }
            fields.append(.cacheControl, line)
            plain.isPresent = true
            #expect(CacheControl(fields) == plain)
        }
    }

    // A restrictive directive outside quotes is always found, whatever text surrounds it.
    @Test func noGarbageHidesARestriction() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            let before = soup(&generator).filter { $0 != "\"" }
            let after = soup(&generator)
            #expect(CacheControl([.cacheControl: "\(before),no-store,\(after)"]).noStore)
        }
    }
}
