extension Journal {
    /// The calls as they change, for a screen that shows them live: each element is a call in its present state.
    ///
    /// ```swift
    /// for await call in journal.updates {
    ///     print(call.id, call.explained)
    /// }
    /// ```
    /// The stream begins with the calls that are there. A call comes again after each change: a step's begin or end, a note, a
    /// stream's end. Changes that come faster than they are read are joined: the reader gets the newest state, and nothing grows
    /// beyond the journal's limit of calls.
    ///
    /// Each use of this property is a stream with all changes, for one reader. The stream ends only when the reader's task is
    /// cancelled.
    public var updates: AsyncStream<JournalCall> {
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = JournalListener(limit: limit, wakeUp: wakeUp)
        // Added before it gets the calls that are there, so that no change is missed.
        listeners.add(listener)
        tellAll(to: listener)
        return AsyncStream {
            var wakeUps = wakeUps.makeAsyncIterator()
            repeat {
                // The journal may have dropped a call since it changed.
                while !Task.isCancelled, let id = listener.next() {
                    if let call = self[id] { return call }
                }
            } while await wakeUps.next() != nil
            return nil
        }
    }
}
