// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization

/// The reads and watches that many applications of one cluster share, for each member.
final class EtcdSharing: Sendable {
    typealias Answer = Result<(EtcdRange, EtcdHeader), FetchProblem>
    typealias Reads = Batches<EtcdClient.RangeQuery, Answer>

    /// The maximum number of reads in one transaction; etcd allows 128 by default.
    private static let most = 100
    /// The maximum number of such transactions at a time.
    private static let running = 4

    /// The client without this object.
    private let client: EtcdClient
    private let reads = Mutex<[String: Reads]>([:])
    private let watches = Mutex<[String: SharedWatch]>([:])

    init(_ client: EtcdClient) { self.client = client }

    /// The watch of all applications at a member.
    func watch(at endpoint: String) -> SharedWatch {
        watches.withLock { watches in
            if let watch = watches[endpoint] { return watch }
            let root = "\(client.cluster.prefix)/\(client.cluster.environment)/"
            let watch = SharedWatch(root: root) { [client] revision, body in
                do throws(FetchProblem) {
                    try await client.watch(root, from: revision, at: endpoint, body)
                    return FetchProblem(message: "the watch was ended")
                } catch { return error }
            }
            watches[endpoint] = watch
            return watch
        }
    }

    /// Returns the entries in a range, read together with others.
    func read(
        _ query: EtcdClient.RangeQuery, at endpoint: String
    ) async throws(FetchProblem) -> (EtcdRange, EtcdHeader) {
        let batches = reads.withLock { reads in
            if let batches = reads[endpoint] { return batches }
            let batches = Reads(most: Self.most, running: Self.running) { [client] queries in
                await Self.read(queries, client, endpoint)
            }
            reads[endpoint] = batches
            return batches
        }
        return try await batches.perform(query, cancelled: .failure(FetchProblem(message: "cancelled"))).get()
    }

    private static func read(
        _ queries: [EtcdClient.RangeQuery], _ client: EtcdClient, _ endpoint: String
    ) async -> [Answer] {
        if queries.count > 1 {
            do throws(FetchProblem) {
                let (ranges, header) = try await client.ranges(queries, at: endpoint)
                return ranges.map { .success(($0, header)) }
            } catch {
                // One of them may be forbidden, or all of them together too large.
                guard error.isRefusal || error.isTooLarge else {
                    return queries.map { _ in .failure(error) }
                }
            }
        }
        var answers: [Answer] = []
        for query in queries {
            do throws(FetchProblem) {
                answers.append(.success(try await client.range(query, at: endpoint)))
            } catch {
                answers.append(.failure(error))
            }
        }
        return answers
    }
}
#endif
