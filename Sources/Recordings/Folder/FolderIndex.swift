internal import Foundation
internal import HTTPSyntax
internal import Interceptors

/// One answer in a folder: a file with its content, a file with its head, or both.
struct FolderFile: Sendable, Equatable {
    /// The file with the content; `nil` if there is only a head.
    var content: [String]?
    /// The file with the head, if any.
    var head: [String]?
    let name: AnswerFileName

    /// The path of the file that a message names.
    var text: String { FolderPath.text(content ?? head ?? []) }
}

/// The requests that the files of a folder answer, as the files' names say.
struct FolderIndex: Sendable {
    /// The answers to the same requests, in order.
    struct Group: Sendable {
        let name: FolderName
        let scope: StubScope
        /// For `logo.png`: the URL that ends with the extension, which it answers unless another file does.
        var alternatives: [String: Alternative] = [:]
        var files: [FolderFile] = []
        /// The extension of the URLs that the files are for; `nil` for URLs without one.
        var ending: String?

        /// The files with one extension.
        struct Alternative: Sendable {
            let scope: StubScope
            var files: [FolderFile] = []
        }

        /// The requests that the group answers, each with the files for them.
        fileprivate var answers: [(group: Group, scope: StubScope)] {
            let others = alternatives.sorted { $0.key < $1.key }.map { ending, alternative in
                var group = self
                group.files = alternative.files
                group.ending = ending
                return (group: group, scope: alternative.scope)
            }
            return [(group: self, scope: scope)] + others
        }
    }

    private(set) var groups: [FolderName: Group] = [:]
    private(set) var archives: [[String]] = []
    /// The files that can't be used, each with the reason, as sentences.
    private(set) var problems: [String] = []
    private(set) var origins: [String] = []
    var isEmpty: Bool { groups.isEmpty && archives.isEmpty }
    /// The groups, those for certain bodies first: if two match equally well, the first answers.
    private var ordered: [Group] = []

    init(_ listing: FolderPath.Listing) {
        problems = listing.others.map {
            "\(FolderPath.text($0)) is neither a file nor a folder; links aren't followed."
        }
        var heads: [[String]: AnswerFileName] = [:]
        var contents: Set<[String]> = []
        for path in listing.files {
            let name = AnswerFileName(path.last ?? "")
            if name.isHead { heads[path] = name } else { contents.insert(path) }
        }
        for path in listing.files where heads[path] == nil {
            let name = AnswerFileName(path.last ?? "")
            if name.fileExtension?.lowercased() == "har" {
                archives.append(path)
                continue
            }
            let head: [String] = path.dropLast() + [(path.last ?? "") + AnswerFileName.headEnding]
            add(FolderFile(content: path, head: heads[head] == nil ? nil : head, name: name), at: path)
        }
        for (path, name) in heads.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let content: [String] =
                path.dropLast() + [String((path.last ?? "").dropLast(AnswerFileName.headEnding.count))]
            guard !contents.contains(content) else { continue }
            if name.fileExtension == nil {
                add(FolderFile(content: nil, head: path, name: name), at: path)
            } else {
                problems.append("\(FolderPath.text(path)) is a head without \(FolderPath.text(content)).")
            }
        }
        finish()
    }

    private mutating func add(_ file: FolderFile, at path: [String]) {
        var folders = path.dropLast()
        let origin = folders.first.flatMap { FolderName.isOrigin($0) ? $0 : nil }
        if origin != nil { folders = folders.dropFirst() }
        guard let methodFolder = folders.popFirst() else {
            problems.append("\(FolderPath.text(path)) isn't in the folder of a method, such as GET.")
            return
        }
        let method = HTTPRequest.Method(rawValue: methodFolder.removingPercentEncoding ?? "")
        guard let method, methodFolder == FolderName.anything || methodFolder == FolderName.folder(of: method) else {
            problems.append(
                "\(FolderPath.text(path)): \(methodFolder) is no method; methods are in capitals, such as GET."
            )
            return
        }
        let segments = Array(folders) + [file.name.base]
        let name = FolderName(origin: origin, methodFolder: methodFolder, segments: segments, body: file.name.body)
        let scoped = methodFolder == FolderName.anything ? nil : method
        let parent = folders.map { "/" + AnswerFileName.patternText($0).replacing("?", with: "%3F") }.joined()
        let pattern = parent + "/" + AnswerFileName.patternText(ofBase: file.name.base)
        var group = groups[name] ?? Group(name: name, scope: StubScope(scoped, pattern))
        group.files.append(file)
        if let ending = file.name.fileExtension, file.content != nil, !file.name.base.contains("?") {
            let whole = StubScope(scoped, pattern + "." + ending)
            group.alternatives[ending, default: Group.Alternative(scope: whole)].files.append(file)
        }
        groups[name] = group
        if let origin, !origins.contains(origin) { origins.append(origin) }
    }

    private mutating func finish() {
        for name in groups.keys {
            groups[name]?.files.sort { ($0.name.number, $0.text) < ($1.name.number, $1.text) }
            let files = groups[name]?.files ?? []
            let alternatives = groups[name]?.alternatives ?? [:]
            for (file, next) in zip(files, files.dropFirst()) where file.name.number == next.name.number {
                groups[name]?.files.removeAll { $0 == next }
                // With another extension it still answers the URLs that end with that extension.
                let isAlternative = alternatives[next.name.fileExtension ?? ""]?.files.contains(next) ?? false
                if isAlternative, file.name.fileExtension != next.name.fileExtension { continue }
                problems.append("\(next.text) is never used: \(file.text) answers the same requests.")
            }
            for (ending, alternative) in alternatives {
                let files = alternative.files.sorted { ($0.name.number, $0.text) < ($1.name.number, $1.text) }
                let unused = zip(files, files.dropFirst()).filter { $0.name.number == $1.name.number }.map(\.1)
                groups[name]?.alternatives[ending]?.files = files.filter { !unused.contains($0) }
            }
        }
        origins.sort()
        problems.sort()
        // The digest of a long name matches no pattern.
        ordered = groups.values.filter { !$0.name.segments.contains { $0.contains("^^") } }.sorted {
            ($0.name.body == nil ? 1 : 0, $0.name.description) < ($1.name.body == nil ? 1 : 0, $1.name.description)
        }
    }
}

extension FolderIndex {
    /// A request as a folder looks it up.
    struct Query {
        let method: HTTPRequest.Method
        let url: String
        /// The folder of the request's origin; `nil` to answer from every origin's.
        let origin: String?
        /// The names of the request's files, the best first.
        let names: [FolderName]
        fileprivate let methods: [String]

        init(_ method: HTTPRequest.Method, _ url: String, origin: String?, origins: [String], body: String?) {
            self.method = method
            self.url = url
            self.origin = origin
            let segments = FolderName.segments(of: url, redaction: .standard)
            let own = FolderName.folder(of: method)
            // HEAD is answered like GET, without the content (RFC 9110 §9.3.2).
            methods = [own] + (method == .head ? [FolderName.folder(of: .get)] : []) + [FolderName.anything]
            let bodies = body == nil ? [nil] : [body, nil]
            let folders = origin.map { [$0, nil] } ?? [nil] + origins
            names = methods.flatMap { method in
                folders.flatMap { folder in
                    bodies.map {
                        FolderName(origin: folder, methodFolder: method, segments: segments, body: $0)
                    }
                }
            }
        }

        fileprivate func isFor(_ name: FolderName) -> Bool {
            (name.origin == nil || origin == nil || name.origin == origin)
                && (name.body == nil || names.contains { $0.body == name.body })
        }
    }

    /// The files that answer a request: those with its name, or else the most specific pattern.
    func group(for query: Query) -> Group? {
        if let exact = query.names.lazy.compactMap({ groups[$0] }).first { return exact }
        let candidates = ordered.filter { query.methods.contains($0.name.method) && query.isFor($0.name) }
        // A file for the request's origin comes before a file for any.
        for isForAny in [query.origin == nil, query.origin != nil] {
            let scopes = candidates.filter { ($0.name.origin == nil) == isForAny }.flatMap(\.answers)
            let matching = scopes.filter { $0.scope.pattern.matches(query.url) }
            if let best = StubScope.mostSpecific(of: matching, scope: \.scope) { return best.group }
        }
        return nil
    }

    /// A sentence that names the file that a request probably meant; `nil` if none is similar.
    func hint(for query: Query) -> String? {
        let own = ordered.filter { query.isFor($0.name) }
        if let other = own.first(where: { $0.scope.pattern.matches(query.url) }), let file = other.files.first {
            return "\(file.text) answers another method."
        }
        if let other = own.first(where: { $0.scope.pattern.matchesPath(of: query.url) }), let file = other.files.first {
            return "\(file.text) answers another query."
        }
        if let other = ordered.first(where: { $0.scope.pattern.matches(query.url) }), let file = other.files.first {
            return "\(file.text) answers another origin or body."
        }
        let near = ordered.map { group in
            let distance = group.scope.pattern.distance(toPathOf: query.url)
            return (group, distance: query.methods.contains(group.name.method) ? distance : distance + 1)
        }
        guard let nearest = near.min(by: { $0.distance < $1.distance }), let file = nearest.0.files.first else {
            return nil
        }
        return "The nearest is \(file.text)."
    }
}
