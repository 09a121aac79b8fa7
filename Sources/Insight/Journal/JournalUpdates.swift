internal import Interceptors

/// The calls of a ``Journal`` as they change: each element is a call in its present state.
///
/// The sequence begins with the calls that are there. A call comes again after each change: a step's begin or end, a note, a
/// stream's end. Changes that come faster than they are read are joined: the reader gets the newest state, and nothing grows
/// beyond the journal's limit of calls.
///
/// Each iterator gets all changes. The sequence ends only when the reader's task is cancelled.
public struct JournalUpdates: AsyncSequence, Sendable {
    /// A call in its present state.
    public typealias Element = JournalCall
    /// Reading never fails.
    public typealias Failure = Never

    let journal: Journal

    /// Starts to listen.
    public func makeAsyncIterator() -> AsyncIterator {
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = JournalListener(limit: journal.limit, wakeUp: wakeUp)
        // Added before it gets the calls that are there, so that no change is missed.
        journal.listeners.add(listener)
        journal.tellAll(to: listener)
        return AsyncIterator(journal: journal, listener: listener, wakeUps: wakeUps.makeAsyncIterator())
    }

    /// Reads the calls as they change.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let journal: Journal
        fileprivate let listener: JournalListener
        fileprivate var wakeUps: AsyncStream<Void>.AsyncIterator

        /// The next call that has changed; `nil` if the task is cancelled.
        public mutating func next() async -> JournalCall? { await next(isolation: nil) }

        /// The next call that has changed; `nil` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> JournalCall? {
            repeat {
                // The journal may have dropped a call since it changed.
                while !Task.isCancelled, let id = listener.next() {
                    if let call = journal[id] { return call }
                }
            } while await wakeUps.next(isolation: actor) != nil
            return nil
        }
    }
}

extension Journal {
    /// The calls as they change, for a screen that shows them live.
    ///
    /// ```swift
    /// for await call in journal.updates {
    ///     print(call.id, call.explained)
    /// }
    /// ```
    public var updates: JournalUpdates { JournalUpdates(journal: self) }
}
