internal import Foundation
public import InterceptorsTransport

/// Adds notes to one step of a journal, after the request was passed on.
///
/// ```swift
/// let quota: AnyInterceptor = .intercept { request, next in
///     let notes = request.notes
///     let response = try await next(request)
///     if response.status == 429 { notes.add("The quota is used up.") }
///     return response
/// }
/// ```
/// Without a journal, a note costs nothing and its text isn't made.
public struct JournalNotes: Sendable {
    let visit: JournalVisit?

    /// Notes that nothing keeps.
    package static let none = JournalNotes(visit: nil)

    /// Whether a journal records the call.
    public var areKept: Bool { visit != nil }

    /// The number of the call in its journal, for ``JournalNote/callID`` of another call's note; `nil` without a journal.
    public var callID: JournalCall.ID? { visit?.record.id }

    /// Adds a note.
    public func add(_ note: @autoclosure () -> JournalNote) {
        guard let visit else { return }
        visit.journal.add(note(), to: visit)
    }
}

extension HTTPRequest {
    /// Tells the journal the reason of a decision of this interceptor. Without a journal, a note costs nothing and its text isn't
    /// made.
    ///
    /// ```swift
    /// let language: AnyInterceptor = .intercept { request, next in
    ///     if request.headerFields.contains(.acceptLanguage) {
    ///         request.note("The call chooses its language.")
    ///     } else {
    ///         request.headerFields[.acceptLanguage] = await settings.language
    ///     }
    ///     return try await next(request)
    /// }
    /// ```
    /// The note belongs to the element that the request has reached. After `next`, use ``notes``.
    ///
    /// - Parameter note: the reason. The journal replaces secrets that it recognises; keep others out.
    public func note(_ note: @autoclosure () -> JournalNote) {
        guard let visit = context.journalVisit else { return }
        visit.journal.add(note(), to: visit)
    }

    /// The notes of the element that the request has reached, to be kept for a decision after `next`.
    public var notes: JournalNotes { JournalNotes(visit: context.journalVisit) }
}

// A mirror of the stored properties would show the URL and the content of the request.
extension JournalNotes: CustomReflectable, CustomStringConvertible {
    /// The number of the call, such as `JournalNotes(call 3)`.
    public var description: String { callID.map { "JournalNotes(call \($0))" } ?? "JournalNotes(not kept)" }

    /// A mirror that shows ``areKept`` and ``callID``, and nothing of the request.
    public var customMirror: Mirror {
        Mirror(self, children: ["areKept": areKept, "callID": callID as Any], displayStyle: .struct)
    }
}
