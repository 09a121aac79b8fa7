internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

/// One answer in a folder: a file with its content, a file with its head, or both.
struct FolderFile: Sendable, Equatable {
    /// The file with the content; `nil` if there is only a head.
    var content: [String]?
    /// The file with the head, if any.
    var head: [String]?
    let name: AnswerFileName

    /// The path of the file that a message names.
    var path: [String] { content ?? head ?? [] }
    var text: String { FolderPath.text(path) }
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
    /// Names with a digest, by the name without it, where no file is for another body. These files answer any body.
    private var onlyBodies: [FolderName: FolderName] = [:]
    /// The groups, in the order of their names.
    private var ordered: [Group] = []

    /// - Parameter redaction: hides the secrets of names in ``problems``.
    init(_ listing: FolderPath.Listing, _ redaction: ExchangeRedaction) {
        problems = listing.others.map {
            "\(redaction.path($0)) is neither a file nor a folder; links aren't followed."
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
            add(FolderFile(content: path, head: heads[head] == nil ? nil : head, name: name), at: path, redaction)
        }
        for (path, name) in heads.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let content: [String] =
                path.dropLast() + [String((path.last ?? "").dropLast(AnswerFileName.headEnding.count))]
            guard !contents.contains(content) else { continue }
            if name.fileExtension == nil {
                add(FolderFile(content: nil, head: path, name: name), at: path, redaction)
            } else {
                problems.append("\(redaction.path(path)) is a head without \(redaction.path(content)).")
            }
        }
        finish(redaction)
    }

    private mutating func add(_ file: FolderFile, at path: [String], _ redaction: ExchangeRedaction) {
        let name: FolderName
        do {
            name = try FolderName(of: path, file.name)
        } catch {
            problems.append(redaction.path(path) + error.reason)
            return
        }
        let method = FolderName.method(of: name.method)
        let folders = path.dropLast().dropFirst(name.origin == nil ? 1 : 2)
        let parent = folders.map { "/" + AnswerFileName.patternText($0).replacing("?", with: "%3F") }.joined()
        let pattern = parent + "/" + AnswerFileName.patternText(ofBase: file.name.base)
        var group = groups[name] ?? Group(name: name, scope: StubScope(method, pattern))
        group.files.append(file)
        if let ending = file.name.fileExtension, file.content != nil, !file.name.base.contains("?") {
            let whole = StubScope(method, pattern + "." + ending)
            group.alternatives[ending, default: Group.Alternative(scope: whole)].files.append(file)
        }
        groups[name] = group
        if let origin = name.origin, !origins.contains(origin) { origins.append(origin) }
    }

    private static func precedes(_ one: FolderFile, _ other: FolderFile) -> Bool {
        (one.name.number, one.text) < (other.name.number, other.text)
    }

    private mutating func finish(_ redaction: ExchangeRedaction) {
        for name in groups.keys {
            groups[name]?.files.sort(by: Self.precedes)
            let files = groups[name]?.files ?? []
            let alternatives = groups[name]?.alternatives ?? [:]
            for (file, next) in zip(files, files.dropFirst()) where file.name.number == next.name.number {
                groups[name]?.files.removeAll { $0 == next }
                // With another extension it still answers the URLs that end with that extension.
                let isAlternative = alternatives[next.name.fileExtension ?? ""]?.files.contains(next) ?? false
                if isAlternative, file.name.fileExtension != next.name.fileExtension { continue }
                let (unused, used) = (redaction.path(next.path), redaction.path(file.path))
                problems.append("\(unused) is never used: \(used) answers the same requests.")
            }
            for (ending, alternative) in alternatives {
                let files = alternative.files.sorted(by: Self.precedes)
                let unused = zip(files, files.dropFirst()).filter { $0.name.number == $1.name.number }.map(\.1)
                groups[name]?.alternatives[ending]?.files = files.filter { !unused.contains($0) }
            }
        }
        for (name, bodies) in Dictionary(grouping: groups.keys, by: \.forAnyBody) where bodies.count == 1 {
            if bodies[0].body != nil { onlyBodies[name] = bodies[0] }
        }
        origins.sort()
        problems.sort()
        // The digest of a long name matches no pattern.
        ordered = groups.values.filter { !$0.name.segments.contains { $0.contains("^^") } }
            .sorted { $0.name.description < $1.name.description }
    }
}

extension FolderIndex {
    /// The files that answer a request: those with its name, or else the most specific pattern.
    func group(for query: FolderQuery) -> Group? {
        if let exact = query.names.lazy.compactMap({ groups[$0] }).first { return exact }
        if let only = query.names.lazy.compactMap({ onlyBodies[$0] }).first { return groups[only] }
        let own = ordered.filter { query.methods.contains($0.name.method) && query.isForOrigin($0.name) }
        // If several patterns match equally well, the first answers.
        let candidates =
            (query.body == nil ? [] : own.filter { $0.name.body == query.body }) + own.filter { $0.name.body == nil }
            + own.filter { $0.name.body != query.body && onlyBodies[$0.name.forAnyBody] != nil }
        // A file for the request's origin comes before a file for any.
        for isForAny in [query.origin == nil, query.origin != nil] {
            let scopes = candidates.filter { ($0.name.origin == nil) == isForAny }.flatMap(\.answers)
            let matching = scopes.filter { $0.scope.pattern.matches(query.url) }
            if let best = StubScope.mostSpecific(of: matching, scope: \.scope) { return best.group }
        }
        return nil
    }

    /// A sentence about the file that a request probably meant; `nil` if none is similar.
    ///
    /// - Parameter text: the path of a file as it may be printed.
    func hint(for query: FolderQuery, _ text: (FolderFile) -> String) -> String? {
        let own = ordered.filter { query.isForOrigin($0.name) && ($0.name.body == nil || $0.name.body == query.body) }
        if let file = own.first(where: { $0.scope.pattern.matches(query.url) })?.files.first {
            return "\(text(file)) answers another method."
        }
        if let file = own.first(where: { $0.scope.pattern.matchesPath(of: query.url) })?.files.first {
            return "\(text(file)) answers another query."
        }
        let other = ordered.first { query.methods.contains($0.name.method) && $0.scope.pattern.matches(query.url) }
        if let other, let file = other.files.first {
            guard query.isForOrigin(other.name) else { return "\(text(file)) answers another origin." }
            return "\(text(file)) answers another body: remove the # part to answer any."
        }
        let near = ordered.map { group in
            let distance = group.scope.pattern.distance(toPathOf: query.url)
            return (group, distance: query.methods.contains(group.name.method) ? distance : distance + 1)
        }
        guard let file = near.min(by: { $0.distance < $1.distance })?.0.files.first else { return nil }
        return "The nearest is \(text(file))."
    }
}
