public import Foundation

extension Journal {
    /// The calls as an HTTP Archive (HAR 1.2), which browsers' developer tools, proxies and many other programs open.
    ///
    /// ```swift
    /// try journal.har().write(to: harFile)
    /// ```
    /// A call is a page of the archive, and each attempt is an entry with the transport's timings. A call that sent nothing, such
    /// as one that the cache answered, has one entry, which browsers show as cached. The notes of the interceptors are in
    /// `_decisions` of a page. If the journal shows secrets, `comment` and `_isRedacted` say so.
    ///
    /// A body is the text that the journal kept, and a comment says if that is only the beginning. Where the journal knows nothing,
    /// such as the size of a head, the archive has HAR's value for "unknown".
    ///
    /// The archive of a thousand calls takes about 0.1 s, so prefer a task that isn't on the main actor.
    public func har() -> Data { HARFile(calls: calls, isRedacted: redaction != nil).data }

    /// The calls as a page for any browser: an HTML file that needs no other file and no network.
    ///
    /// ```swift
    /// try journal.page().write(to: htmlFile)
    /// ```
    /// Each call is a line that opens: its steps, changes and notes, and the fields and bodies of the call and of its attempts.
    /// A body that comes again in a call is shown once. The browser's own search and keys work. Its appearance is light or dark, as
    /// the system's. If the journal shows secrets, the page says so at its top.
    ///
    /// Nothing in a call can run in the page, whatever a server sent: it has no script, and its content security policy allows none.
    public func page() -> Data { JournalPage(calls: calls, isRedacted: redaction != nil).data }
}
