import Foundation
import InterceptorsCore
import Testing

private struct Search: Encodable {
    struct Range: Encodable { var from = 1, to: Int? = nil }
    struct Person: Encodable { var firstName = "Ada" }

    var term = "rock & roll"
    var pageURLText: String? = nil
    var isNew = true
    var tags = ["a", "b"]
    var range = Range()
    var people: [Person] = []
    var at: Date? = nil
}

/// Encodes `nil` explicitly.
private struct Explicit: Encodable {
    var note: String? = nil
    var tags: [Int?] = [1, nil]
    enum CodingKeys: CodingKey { case note, tags }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(note, forKey: .note)
        try container.encode(tags, forKey: .tags)
    }
}

/// Encodes a member with a name of the test.
private struct Named: Encodable {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let name: String

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: Key(stringValue: name))
    }
}

/// Encodes a nested object in two containers for the same key.
private struct InParts: Encodable {
    enum CodingKeys: CodingKey { case range, from, to }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var first = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .range)
        try first.encode(1, forKey: .from)
        var second = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .range)
        try second.encode(2, forKey: .to)
    }
}

private struct ID: Codable, URLValue {
    var number = 5
    var urlText: String { "u\(number)" }
}

private class Base: Encodable {
    var id = 1
}

private final class Derived: Base {
    enum CodingKeys: CodingKey { case name }
    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("x", forKey: .name)
        try super.encode(to: container.superEncoder())
    }
}

@Suite(.againstHanging) struct HTTPQueryEncoderTests {
    private func text(_ value: some Encodable, _ change: (inout HTTPQueryEncoder) -> Void = { _ in }) throws -> String {
        var encoder = HTTPQueryEncoder()
        change(&encoder)
        let encoded = try encoder.encode(value).encoded
        return encoded.replacing("%5B", with: "[").replacing("%5D", with: "]")
    }

    @Test func aValueIsItsMembersInOrder() throws {
        #expect(try text(Search()) == "term=rock%20%26%20roll&isNew=true&tags=a&tags=b&range[from]=1")
    }

    @Test(arguments: [
        (HTTPQuery.ArrayFormat.repeated, "tags=a&tags=b"), (.brackets, "tags[]=a&tags[]=b"),
        (.indexed, "tags[0]=a&tags[1]=b"), (.commaSeparated, "tags=a,b"),
    ])
    func arraysFollowTheirFormat(format: HTTPQuery.ArrayFormat, expected: String) throws {
        #expect(try text(["tags": ["a", "b"]]) { $0.arrays = format } == expected)
        #expect(try text(["tags": [String]()]) { $0.arrays = format } == "")
    }

    @Test func objectsInArraysAreNumbered() throws {
        let people = ["people": [Search.Person(), Search.Person(firstName: "Bo")]]
        #expect(try text(people) == "people[0][firstName]=Ada&people[1][firstName]=Bo")
        #expect(try text(["a": [[1, 2], [3]]]) { $0.arrays = .brackets } == "a[0][]=1&a[0][]=2&a[1][]=3")
    }

    @Test(arguments: [
        (nil, "tags=1"), ("", "note=&tags=1&tags="), ("null", "note=null&tags=1&tags=null"),
    ])
    func encodedNilsHaveTheirText(nilText: String?, expected: String) throws {
        #expect(try text(Explicit()) { $0.nilText = nilText } == expected)
    }

    @Test func datesBoolsSpacesAndNestingFollowTheirFormats() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        #expect(try text(["at": date]) == "at=1970-01-01T00%3A00%3A01Z")
        #expect(try text(["at": date]) { $0.dates = .secondsSince1970 } == "at=1.5")
        #expect(try text(["at": date]) { $0.dates = .millisecondsSince1970 } == "at=1500")
        #expect(try text(["at": date]) { $0.dates = .custom { _ in "now" } } == "at=now")
        #expect(try text(["is": [true, false]]) { $0.boolsAsNumbers = true } == "is=1&is=0")
        #expect(try text(["q": "a b+c"]) { $0.spacesAsPlus = true } == "q=a+b%2Bc")
        #expect(try text(["a": ["b": ["c": 1]]]) { $0.nestsWithDots = true } == "a.b.c=1")
        #expect(try text(["a": Data([0xFF, 0xFE])]) == "a=%2F%2F4%3D")
        #expect(try text(["a": 1.5e300]) == "a=1.5e%2B300")
        #expect(try text(["a": Decimal(string: "0.10")]) == "a=0.1")
    }

    @Test(arguments: [
        ("firstName", "first_name", "first-name"), ("pageURLText", "page_url_text", "page-url-text"),
        ("URL", "url", "url"), ("a1B", "a1_b", "a1-b"), ("a_B", "a_b", "a_b"), ("id", "id", "id"), ("", "", ""),
    ])
    func namesFollowTheirFormat(name: String, snake: String, kebab: String) throws {
        #expect(try text(Named(name: name)) { $0.keys = .snakeCase } == "\(snake)=1")
        #expect(try text(Named(name: name)) { $0.keys = .kebabCase } == "\(kebab)=1")
        #expect(try text(Named(name: name)) { $0.keys = .custom { $0.uppercased() } } == "\(name.uppercased())=1")
    }

    @Test func aSuperclassIsNestedUnderItsKey() throws {
        #expect(try text(Derived()) == "name=x&super[id]=1")
    }

    @Test func aValueWithoutNamesIsAnError() {
        #expect(throws: EncodingError.self) { try HTTPQueryEncoder().encode(1) }
        #expect(throws: EncodingError.self) { try HTTPQueryEncoder().encode([1]) }
        #expect(throws: EncodingError.self) { try HTTPQueryEncoder().encode(nil as Int?) }
    }

    @Test func theErrorOfAMemberNamesTheKeysAsTheValueSpellsThem() {
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: ""))
            }
        }
        struct Outer: Encodable { let firstName = ["homeTown": [Failing()]] }
        let error = #expect(throws: EncodingError.self) { try text(Outer()) { $0.keys = .snakeCase } }
        guard case .invalidValue(_, let context) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(context.codingPath.map(\.stringValue) == ["firstName", "homeTown", "0"])
        #expect(context.codingPath.map(\.intValue) == [nil, nil, 0])
    }

    @Test func aDictionaryIsSortedAndItsNamesAreData() throws {
        let names = ["d", "firstName", "a", "c", "b", "e"]
        let dictionary = Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })
        #expect(try text(dictionary) { $0.keys = .snakeCase } == "a=1&b=1&c=1&d=1&e=1&firstName=1")
    }

    @Test func partsOfANestedObjectAreJoined() throws {
        #expect(try text(InParts()) == "range[from]=1&range[to]=2")
    }

    @Test func aURLValueIsItsText() throws {
        #expect(try text(["id": ID()]) == "id=u5")
        #expect(try text(["ids": [ID(), ID(number: 6)]]) == "ids=u5&ids=u6")
    }
}
