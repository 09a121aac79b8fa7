internal import Foundation
internal import InterceptorsMiddlewares
internal import Synchronization

/// One caller's wait for a load that others may share.
struct ImageWait<Image: Sendable>: Sendable {
    fileprivate let waiter: Waiter<Result<LoadedImage<Image>, any Error>>
    fileprivate let place: ImageLoader<Image>.Place
    fileprivate let loader: ImageLoader<Image>

    /// Waits for the load. Only one task may call this, once.
    ///
    /// - Returns: the end of the load; a `CancellationError` if the task is cancelled or ``leave()`` is called.
    func result() async -> Result<LoadedImage<Image>, any Error> { await waiter.outcome { _ in leave() } }

    /// Ends the wait, and cancels the load if no other caller waits for it.
    func leave() { loader.leave(place) }
}

/// The loads. The state is changed under the lock; tasks are started, cancelled and resumed outside it.
///
/// An open load is one that callers can join. Only an open load may store its image. Removing an image closes its load, and the
/// last caller that leaves ends it, so neither stores anything afterwards.
extension ImageLoader {
    typealias Place = SharedExchanges<ImageKey, Waiter<Result<LoadedImage<Image>, any Error>>, Task<Void, Never>>.Place

    enum Answer: Sendable {
        case inMemory(Image)
        case load(ImageWait<Image>)
    }

    /// The number of running loads, and of the callers that wait for them.
    var loadCounts: (loads: Int, askers: Int) {
        let counts = state.withLock(\.loads.counts)
        return (counts.exchanges, counts.waiters)
    }

    /// Finds an image in memory, joins its load, or starts one.
    func ask(for url: URL, as variant: (any ImageVariant<Image>)?) -> Answer {
        let key = ImageKey(url, variant)
        let waiter = Waiter<Result<LoadedImage<Image>, any Error>>()
        let found = state.withLock { state -> Answer in
            if let image = state.memory.use(key) { return .inMemory(image) }
            return .load(ImageWait(waiter: waiter, place: state.loads.join(key, waiter), loader: self))
        }
        if case .load(let wait) = found, wait.place.isFirst { begin(wait.place.exchange, key, url, variant) }
        return found
    }

    fileprivate func leave(_ place: Place) {
        let (waiter, abandoned) = state.withLock { $0.loads.leave(place) }
        abandoned?.cancel()
        waiter?.resume(with: .failure(CancellationError()))
    }

    // An unstructured task, because the load must outlive the caller that started it while others wait.
    private func begin(_ load: Int, _ key: ImageKey, _ url: URL, _ variant: (any ImageVariant<Image>)?) {
        let work = Task(executorPreference: StartedWork.watcher) { [self] in
            let result: Result<LoadedImage<Image>, any Error>
            do {
                result = .success(try await loaded(url, variant))
            } catch {
                result = .failure(error)
            }
            finish(load, key, result)
        }
        if !state.withLock({ $0.loads.attach(work, to: load) }) { work.cancel() }
    }

    private func loaded(_ url: URL, _ variant: (any ImageVariant<Image>)?) async throws -> LoadedImage<Image> {
        let (image, response) = try await client.content(
            at: url,
            as: Image.self,
            upTo: bodyLimit,
            headers: headers,
            context: context
        ) { content in
            try await decodings.run { try variant?.image(from: content) ?? decode(content) }
        }
        let isStored = response.context.cacheOutcome?.result.isStored == true
        return LoadedImage(image, from: isStored ? .cache : .network)
    }

    private func finish(_ load: Int, _ key: ImageKey, _ result: Result<LoadedImage<Image>, any Error>) {
        // The closure is the user's code, so it runs outside the lock.
        let image = try? result.get().image
        let cost = image.map(cost) ?? 0
        let (evicted, waiters) = state.withLock { state in
            var evicted: [ImageMemory<Image>.Stored] = []
            if let image, state.loads.isOpen(load) { evicted = state.memory.insert(image, cost: cost, for: key) }
            return (evicted, state.loads.finish(load))
        }
        withExtendedLifetime(evicted) {}
        for waiter in waiters { waiter.resume(with: result) }
    }

    func removeAll(where isRemoved: (ImageKey) -> Bool) {
        let removed = state.withLock { state in
            state.loads.close(where: isRemoved)
            return state.memory.removeAll(where: isRemoved)
        }
        withExtendedLifetime(removed) {}
    }

    /// Evicts half of the images' cost under memory pressure, or all at a critical level.
    func yield(isCritical: Bool) {
        let removed = state.withLock { $0.memory.trim(to: isCritical ? 0 : $0.memory.cost / 2) }
        withExtendedLifetime(removed) {}
    }
}
