internal import Foundation
internal import InterceptorsArchives

/// A value in JSON text that people write, and its path, which errors name.
struct JSONMember {
    /// The kind of text.
    enum Document: String {
        case archive = "The HTTP Archive"
        case stubs = "The list of stubs"

        var code: HTTPErrorCode { self == .archive ? .unreadableFile : .invalidLaunchStubs }
    }

    let value: OrderedJSON
    /// Empty for the whole text.
    let path: String
    let document: Document
}

extension JSONMember {
    /// Reads a text.
    init(parsing text: Data, as document: Document) throws {
        do {
            self.init(value: try OrderedJSON(parsing: text), path: "", document: document)
        } catch let error as OrderedJSON.SyntaxError {
            throw Self.failure(document, "it isn't JSON from line \(error.line), column \(error.column) on.")
        }
    }

    // MARK: Errors

    private static func failure(_ document: Document, _ reason: String) -> TransportError {
        TransportError(document.code, "\(document.rawValue) can't be read: \(reason)")
    }

    /// An error about this value.
    ///
    /// - Parameter predicate: the end of a sentence that begins with the path.
    func failure(_ predicate: String) -> TransportError {
        Self.failure(document, "\(path.isEmpty ? "it" : path) \(predicate).")
    }

    func isNo(_ kind: String) -> TransportError { failure("is not \(kind)") }

    // MARK: Members and elements

    /// A member; `nil` if it is missing or `null`.
    func optional(_ name: String) -> JSONMember? {
        switch value[name] {
        case nil, .null?: nil
        case let value?: JSONMember(value: value, path: path.isEmpty ? name : "\(path).\(name)", document: document)
        }
    }

    func member(_ name: String) throws -> JSONMember {
        guard case .object = value else { throw isNo("an object") }
        guard let member = optional(name) else { throw failure("has no member \"\(name)\"") }
        return member
    }

    /// Throws for an object with a member of another name, which may be misspelled.
    func expectNoMembers(but known: [String]) throws {
        guard case .object(let members) = value else { throw isNo("an object") }
        guard let unknown = members.first(where: { !known.contains($0.name) })?.name else { return }
        let name = PrintableText.line(String(unknown.unicodeScalars.prefix(100)))
        throw failure("has an unknown member \"\(name)\". The known ones: \(known.joined(separator: ", "))")
    }

    func elements() throws -> [JSONMember] {
        guard case .array(let elements) = value else { throw isNo("an array") }
        return elements.enumerated().map { JSONMember(value: $1, path: "\(path)[\($0)]", document: document) }
    }

    // MARK: Values

    func string() throws -> String {
        guard case .string(let text) = value else { throw isNo("a string") }
        return text
    }

    func bool() throws -> Bool {
        guard case .bool(let bool) = value else { throw isNo("true or false") }
        return bool
    }

    func number() throws -> Double {
        guard case .number(let text) = value, let number = Double(text), number.isFinite else { throw isNo("a number") }
        return number
    }

    func integer() throws -> Int {
        let number = try number()
        guard let integer = Int(exactly: number) else { throw isNo("a whole number") }
        return integer
    }

    /// A number of milliseconds, limited to 30 years. A negative number, HAR's "unknown", counts as zero.
    func milliseconds() throws -> Duration {
        .microseconds(Int64(min(max(try number(), 0) * 1_000, 1e15).rounded()))
    }

    func base64() throws -> Data {
        let text = try string()
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else { throw isNo("base64") }
        return data
    }
}
