// The sources of the package are not on a device.
#if os(Linux) || os(macOS)
import Foundation

/// The names in a source text, without comments and without the parts that Apple's compiler leaves out.
struct AppleSource: Sendable {
    private let known: [String: Bool]

    /// The code that some system of Apple compiles.
    static let anySystem = Self(isMac: nil)
    /// The code that iOS, tvOS, watchOS and visionOS compile.
    static let devices = Self(isMac: false)

    private init(isMac: Bool?) {
        var known = [
            "canImport(Darwin)": true, "canImport(Security)": true, "__APPLE__": true, "defined(__APPLE__)": true,
            "canImport(FoundationNetworking)": false, "canImport(Glibc)": false, "canImport(Musl)": false,
            "canImport(Android)": false, "os(Linux)": false, "os(Android)": false, "os(Windows)": false,
            "__linux__": false, "defined(__linux__)": false, "__ANDROID__": false, "defined(__ANDROID__)": false,
        ]
        known["os(macOS)"] = isMac
        self.known = known
    }

    /// The names in all sources in Swift and C of a folder.
    func names(in folder: URL) throws -> Set<String> {
        try Self.files(in: folder).reduce(into: []) { names, file in
            names.formUnion(self.names(in: try String(contentsOf: file, encoding: .utf8)))
        }
    }

    /// The source files in Swift and C of a folder.
    static func files(in folder: URL) -> [URL] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var found: [URL] = []
        while let file = files?.nextObject() as? URL {
            if ["swift", "c", "h", "m", "mm", "cpp"].contains(file.pathExtension) { found.append(file) }
        }
        return found
    }

    /// The names in a text.
    func names(in text: String) -> Set<String> {
        // For each open `#if`: whether the current branch may be compiled, and whether an earlier one surely is.
        var branches: [(isSeen: Bool, isTaken: Bool)] = []
        var names: Set<String> = []
        // Bytes, because all sources are several megabytes.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let code = line.drop { $0 == UInt8(ascii: " ") }
            guard code.first == UInt8(ascii: "#"), let directive = Directive(code) else {
                if branches.allSatisfy(\.isSeen) { Self.add(code, to: &names) }
                continue
            }
            switch directive {
            case .open(let condition, let isNegated):
                let holds = holds(condition).map { $0 != isNegated }
                branches.append((holds != false, holds == true))
            case .otherwise(let condition):
                guard let last = branches.popLast() else { continue }
                let holds = condition.map { self.holds($0) } ?? true
                branches.append((!last.isTaken && holds != false, last.isTaken || holds == true))
            case .close: _ = branches.popLast()
            case .include: break
            }
        }
        return names
    }

    private enum Directive {
        case open(String, isNegated: Bool)
        /// An `#else`, or an `#elseif` with its condition.
        case otherwise(String?)
        case close
        case include

        init?(_ line: Substring.UTF8View) {
            let words = String(Substring(line)).split(separator: " ", maxSplits: 1)
            let condition = words.count > 1 ? String(words[1]) : ""
            switch words.first {
            case "#if", "#ifdef": self = .open(condition, isNegated: false)
            case "#ifndef": self = .open(condition, isNegated: true)
            case "#elseif", "#elif": self = .otherwise(condition)
            case "#else": self = .otherwise(nil)
            case "#endif": self = .close
            case "#include", "#import": self = .include
            default: return nil
            }
        }
    }

    private static func add(_ code: Substring.UTF8View, to names: inout Set<String>) {
        var isStructure = false
        var rest = code
        while let start = rest.firstIndex(where: { isPart($0) || $0 == UInt8(ascii: "/") }) {
            rest = rest[start...]
            // A comment, and not a part of a URL.
            if rest.starts(with: "//".utf8), code[..<start].last != UInt8(ascii: ":") { return }
            let word = rest.prefix(while: isPart)
            rest = rest.dropFirst(max(1, word.count))
            let name = String(Substring(word))
            // In C, a structure may have a function's name.
            if !isStructure { names.insert(name) }
            isStructure = name == "struct"
        }
    }

    /// Whether a byte is part of a name.
    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether a condition holds on these systems, or on none; `nil` if it depends or isn't known.
    private func holds(_ condition: String) -> Bool? {
        let parts = condition.components(separatedBy: "||").map { holdsWhole($0) }
        if parts.contains(true) { return true }
        return parts.allSatisfy { $0 == false } ? false : nil
    }

    private func holdsWhole(_ condition: String) -> Bool? {
        let parts = condition.components(separatedBy: "&&").map { part -> Bool? in
            let part = part.trimmingCharacters(in: .whitespaces)
            return part.hasPrefix("!") ? known[String(part.dropFirst())].map { !$0 } : known[part]
        }
        if parts.contains(false) { return false }
        return parts.allSatisfy { $0 == true } ? true : nil
    }
}
#endif
