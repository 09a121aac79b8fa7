/// One answer in a folder.
struct FolderEntry: Sendable {
    /// The file with the content; `nil` if there is only a head.
    let content: [String]?
    /// The place of the head, which need not exist beside content.
    let head: [String]
    let fileExtension: String?
    let name: FolderName
    let scope: StubScope?

    /// The path of the file that a message names.
    var path: [String] { content ?? head }
}

/// The requests that the files of a folder answer, as their names say.
struct FolderTable: Sendable {
    /// The answers, each once.
    private(set) var entries: [FolderEntry] = []
    /// Why files can't be used, as sentences.
    private(set) var problems: [String] = []
    /// The folders of hosts.
    private(set) var hosts: Set<String> = []
    private var exact: [FolderName: FolderEntry] = [:]
    /// The entries by their names without a query, and those with a `*` by host and method.
    private var loose: [FolderName: [FolderEntry]] = [:]

    /// The ending of a file with the head of an answer.
    static let headEnding = ".head"

    init(_ listing: FolderPath.Listing) {
        problems = listing.others.map { "\(Self.printable($0)) is neither a file nor a folder; links aren't followed." }
        let files = Set(listing.files)
        var others: [FolderEntry] = []
        for path in listing.files {
            guard let file = Self.answer(path, files) else { continue }
            let (base, ending) = file.isEmpty ? (file.name, nil) : FileExtension.split(file.name)
            guard !file.isEmpty || FileExtension.split(file.name).fileExtension == nil else {
                problems.append("\(Self.printable(path)) is a head without the file beside it.")
                continue
            }
            guard let entry = Self.entry(path, file.isEmpty, base: base, ending) else {
                problems.append("\(Self.printable(path)) isn't in the folder of a method, such as GET.")
                continue
            }
            entries.append(entry)
            add(entry)
            let isIndex = base == FolderName.emptySegment
            let names = [ending == nil ? nil : file.name, isIndex ? FolderName.literalIndex : nil].compactMap(\.self)
            others += names.compactMap { Self.entry(path, file.isEmpty, base: $0, ending) }
        }
        // `logo.png` also answers `/logo.png`, and `index.html` `/index` and `/index.html`, if no other file does.
        for other in others { add(other) }
    }

    /// The name of a file that is an answer, without the ending of a head; `nil` for the head of other content.
    private static func answer(_ path: [String], _ files: Set<[String]>) -> (name: String, isEmpty: Bool)? {
        guard let name = path.last, name.hasSuffix(headEnding), name != headEnding else {
            return (path.last ?? "", false)
        }
        let content = String(name.dropLast(headEnding.count))
        return files.contains(path.dropLast() + [content]) ? nil : (content, true)
    }

    private static func entry(_ path: [String], _ isEmpty: Bool, base: String, _ ending: String?) -> FolderEntry? {
        guard let name = FolderName(file: path.dropLast() + [base]) else { return nil }
        return FolderEntry(
            content: isEmpty ? nil : path,
            head: isEmpty ? path : path.dropLast() + [(path.last ?? "") + headEnding],
            fileExtension: ending,
            name: name,
            scope: name.scope
        )
    }

    private mutating func add(_ entry: FolderEntry) {
        if let host = entry.name.host { hosts.insert(host) }
        if exact[entry.name] == nil { exact[entry.name] = entry }
        loose[Self.looseName(entry.name), default: []].append(entry)
    }

    private static func looseName(_ name: FolderName) -> FolderName {
        name.isPattern ? FolderName(host: name.host, method: name.method, segments: []) : name.withoutQuery
    }

    /// The path of a file as it may be printed.
    static func printable(_ path: [String]) -> String {
        PrintableText.line(Redaction.standard.redactingURL(FolderPath.text(path)))
    }
}

extension FolderTable {
    /// The entry that answers a request: the one with its name, or else the one with the most specific pattern.
    ///
    /// - Parameter hosts: the hosts whose files answer, the best first; `nil` stands for files for any host.
    func entry(for request: HTTPRequest.Method, _ url: String, hosts: [String?]) -> FolderEntry? {
        // HEAD is answered like GET, without the content (RFC 9110 §9.3.2).
        let methods = [request] + (request == .head ? [.get] : [])
        let folders = methods.map(FolderName.folder) + [FolderName.anything]
        let redacted = ExchangeRedaction.standard.url(url)
        let names =
            [FolderName(request, url)] + (redacted == url ? [] : [FolderName(request, redacted, isRedacted: true)])
        for name in names {
            for method in folders {
                for host in hosts {
                    let name = FolderName(host: host, method: method, segments: name.segments)
                    if let entry = exact[name] { return entry }
                }
            }
        }
        for host in hosts {
            let candidates = folders.flatMap { method -> [FolderEntry] in
                let name = FolderName(host: host, method: method, segments: names[0].segments)
                let patterns = loose[FolderName(host: host, method: method, segments: [])] ?? []
                return (loose[name.withoutQuery] ?? []) + patterns
            }
            let matching = candidates.filter { $0.scope?.pattern.matches(url) == true }
            if let best = StubScope.mostSpecific(of: matching, scope: \.scope) { return best }
        }
        return nil
    }

    /// A sentence about the entry that a request probably meant; `nil` if none is similar.
    func hint(for method: HTTPRequest.Method, _ url: String, hosts: [String?]) -> String? {
        let scopes = entries.filter { hosts.contains($0.name.host) }.compactMap(\.scope)
        return StubScope.hint(for: method, url, among: scopes)
    }
}
