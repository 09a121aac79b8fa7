import FilmsModel
import InterceptorsInsight
import SwiftUI

struct DebugScreen: View {
    let journal: Journal
    let server: DemoServer
    @State private var list = JournalList()
    @State private var isOffline = false

    var body: some View {
        NavigationStack {
            List {
                Section("Server") {
                    Toggle("Offline", isOn: $isOffline)
                    Button("Add a film") { server.add("Heat", 1995) }
                    Button("Expire the token") { server.expireToken() }
                    Button("End the session") { server.endSession() }
                }
                Section("Journal") {
                    ForEach(list.calls) { call in
                        DisclosureGroup(String(call.explained.prefix { $0 != "\n" })) {
                            Text(call.explained).font(.caption2.monospaced()).textSelection(.enabled)
                        }
                    }
                }
            }
            .navigationTitle("Debug")
        }
        .onAppear { isOffline = server.isOffline }
        .onChange(of: isOffline) { server.isOffline = isOffline }
        .task { await list.follow(journal) }
    }
}
