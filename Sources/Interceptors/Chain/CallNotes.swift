internal import Foundation
public import InterceptorsTransport

/// Adds notes to one step of an observed chain, after the request was passed on.
///
/// ```swift
/// let quota: AnyInterceptor = .intercept { request, next in
///     let notes = request.notes
///     let response = try await next(request)
///     if response.status == 429 { notes.add("The quota is used up.") }
///     return response
/// }
/// ```
/// Without an observer, a note costs nothing and its text isn't made.
public struct CallNotes: Sendable {
    let step: (any ObservedStep)?

    /// Notes that nothing keeps.
    package static let none = CallNotes(step: nil)

    /// Whether an observer, such as a journal, keeps the notes.
    public var areKept: Bool { step != nil }

    /// The observer's number of the call, for ``CallNote/callID`` of another call's note; `nil` without an observer.
    public var callID: Int? { step?.callID }

    /// Adds a note.
    public func add(_ note: @autoclosure () -> CallNote) { step?.add(note()) }
}

extension HTTPRequest {
    /// Tells the chain's observer, such as a journal, the reason of a decision of this interceptor. Without an observer, a note costs
    /// nothing and its text isn't made.
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
    /// - Parameter note: the reason. A journal replaces secrets that it recognises; keep others out.
    public func note(_ note: @autoclosure () -> CallNote) { context.observedStep?.add(note()) }

    /// The notes of the element that the request has reached, to be kept for a decision after `next`.
    public var notes: CallNotes { CallNotes(step: context.observedStep) }
}

// A mirror of the stored properties would show the URL and the content of the request.
extension CallNotes: CustomReflectable, CustomStringConvertible {
    /// The number of the call, such as `CallNotes(call 3)`.
    public var description: String { callID.map { "CallNotes(call \($0))" } ?? "CallNotes(not kept)" }

    /// A mirror that shows ``areKept`` and ``callID``, and nothing of the request.
    public var customMirror: Mirror {
        Mirror(self, children: ["areKept": areKept, "callID": callID as Any], displayStyle: .struct)
    }
}
