/// A context value that adds a sentence to the description of an error with this context.
package protocol ContextNote: Sendable {
    /// The sentence, without secrets; `nil` for none.
    var note: String? { get }
}

extension HTTPContext {
    /// The sentences to add to an error's description, in the order in which their values were set.
    package var notes: [String] {
        var notes: [String] = []
        var next = first
        while let entry = next {
            if let note = entry.note { notes.append(note) }
            next = entry.rest
        }
        return notes.reversed()
    }
}
