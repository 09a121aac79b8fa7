import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct MainActorProgressTests {
    @MainActor private final class Model {
        var fractions: [Double] = []
        let isWhole = Latch()

        func show(_ progress: TransferProgress) {
            MainActor.assertIsolated()
            fractions.append(progress.fraction ?? -1)
            if progress.fraction == 1 { isWhole.open() }
        }
    }

    @Test @MainActor func reportsArriveOnTheMainActorAndTheLastOneAlways() async {
        let model = Model()
        let handler = TransferProgress.onMainActor { model.show($0) }
        await Task.detached {
            for completed in 1...1000 { handler(TransferProgress(completed: Int64(completed), total: 1000)) }
        }.value
        await model.isWhole.opened()
        let fractions = model.fractions
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
    }

    @Test @MainActor func aBusyMainActorGetsTheNewestReportOnly() async {
        let model = Model()
        let handler = TransferProgress.onMainActor { model.show($0) }
        // The main actor is busy here: no report can arrive before the wait below.
        for completed in 1...1000 { handler(TransferProgress(completed: Int64(completed), total: 1000)) }
        await model.isWhole.opened()
        #expect(model.fractions == [1])
    }
}
