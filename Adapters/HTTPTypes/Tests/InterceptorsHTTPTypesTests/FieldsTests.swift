import HTTPTypes
import Interceptors
import InterceptorsHTTPTypes
import Testing

// `HTTPTypes` and `Middlewares` both declare `HTTPRequest`, `HTTPResponse`, `HTTPFields` and `HTTPField`. In a file that imports
// both, the module tells them apart: `HTTPTypes.HTTPFields` and `Interceptors.HTTPFields`. An alias is shorter.
private typealias TheirFields = HTTPTypes.HTTPFields
private typealias OurFields = Interceptors.HTTPFields

@Suite(.timeLimit(.minutes(10))) struct FieldsTests {
    private static let seeds: Range<UInt64> = 0..<300

    @Test(arguments: seeds) func orderDuplicatesAndSpellingSurviveBothWays(seed: UInt64) throws {
        var random = SplitMix(seed)
        let pairs = (0..<Int.random(in: 0...20, using: &random)).map { _ in (random.name(), random.value()) }
        let ours = OurFields(pairs.map { Interceptors.HTTPField(unchecked: .init(stringLiteral: $0), $1) })
        let theirs = try TheirFields(ours)
        #expect(theirs.map { $0.name.rawName } == pairs.map(\.0))
        #expect(theirs.map { Array($0.value.utf8) } == pairs.map { Array($1.utf8) })
        let back = OurFields(theirs)
        #expect(back.map { $0.name.rawName } == pairs.map(\.0))
        #expect(back.map { Array($0.value.utf8) } == pairs.map { Array($1.utf8) })
        #expect(back == ours)
        // The fields of their type compare without regard to the order of different names.
        #expect(try Array(TheirFields(back)) == Array(theirs))
    }

    @Test(arguments: ["a\r\nEvil: 1", "a\u{0}b", "\u{1B}[0m", "a\u{7F}"])
    func controlCharacterIsRefusedNotReplaced(value: String) {
        #expect(throws: TransportError.self) { try TheirFields(["X-A": value]) }
    }

    @Test(arguments: ["", "X A", ":path", "X:A", "Ä"]) func nameThatIsNoTokenIsRefused(name: String) {
        let fields = OurFields([Interceptors.HTTPField(unchecked: .init(stringLiteral: name), "1")])
        #expect(throws: TransportError.self) { try TheirFields(fields) }
    }

    @Test func errorTellsNoSecret() throws {
        let error = try #require(throws: TransportError.self) { try TheirFields([.authorization: "hush\u{0}"]) }
        #expect(error.description.contains("Authorization") && !error.description.contains("hush"))
    }

    @Test func tooManyFieldsAreRefused() throws {
        let field = Interceptors.HTTPField(unchecked: "X-A", "1")
        #expect(try TheirFields(OurFields(repeatElement(field, count: 65_534))).count == 65_534)
        #expect(throws: TransportError.self) { try TheirFields(OurFields(repeatElement(field, count: 65_535))) }
    }

    @Test func valueThatIsNotUTF8IsReadAsISO88591() {
        let name = HTTPTypes.HTTPField.Name("X-A")
        let field = name.map { HTTPTypes.HTTPField(name: $0, value: [0x63, 0xE9] as [UInt8]) }
        #expect(field.map { Interceptors.HTTPField($0).value } == "cé")
    }

    @Test func pairOfCookiesStaysAPair() throws {
        let theirs = try TheirFields([.cookie: "a=1", .setCookie: "b=2", .cookie: "c=3", .setCookie: "d=4, e"])
        #expect(theirs[values: .cookie] == ["a=1", "c=3"])
        #expect(theirs[values: .setCookie] == ["b=2", "d=4, e"])
        #expect(OurFields(theirs)[values: .setCookie] == ["b=2", "d=4, e"])
    }
}

/// Random field names and values that can be sent, from a seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }

    mutating func name() -> String {
        if Bool.random(using: &self) { return pick(["Set-Cookie", "set-cookie", "COOKIE", "X-a", "x-A", "Accept"]) }
        let letters = Array("abcXYZ019!#$%&'*+-.^_`|~")
        return String((0..<Int.random(in: 1...12, using: &self)).map { _ in pick(letters) })
    }

    mutating func value() -> String {
        let letters = Array("abcXYZ019 \t,;=\"<>:/é漢👩‍👩‍👧")
        let text = String((0..<Int.random(in: 0...30, using: &self)).map { _ in pick(letters) })
        return Interceptors.HTTPField(unchecked: "X-A", text).value
    }
}
