// cuDNN: the graph interface keeps what is set and names what a graph computes; recurrent parameters lie
// where LibTorch expects. Right values: cudnn_graph.h, cudnn_adv.h and the cuDNN 9 API reference.
#include <gtest/gtest.h>

#include "collectors/virtual_gpu/cudnn/backend.h"
#include "collectors/virtual_gpu/cudnn/descriptors.h"
#include "libs_recorder.h"

using namespace attnscope::vgpu::cudnn;

struct Rnn;
extern "C" {
size_t cudnnGetVersion();
Status cudnnGetProperty(int, int*);
const char* cudnnGetErrorString(int);
Status cudnnCreate(Context**);
Status cudnnDestroy(Context*);
Status cudnnBackendCreateDescriptor(int, BackendHandle**);
Status cudnnBackendDestroyDescriptor(BackendHandle*);
Status cudnnBackendFinalize(BackendHandle*);
Status cudnnBackendSetAttribute(BackendHandle*, int, int, int64_t, const void*);
Status cudnnBackendGetAttribute(const BackendHandle*, int, int, int64_t, int64_t*, void*);
Status cudnnBackendExecute(Context*, const BackendHandle*, const BackendHandle*);
Status cudnnCreateTensorDescriptor(Tensor**);
Status cudnnDestroyTensorDescriptor(Tensor*);
Status cudnnGetTensorNdDescriptor(const Tensor*, int, DataType*, int*, int*, int*);
Status cudnnCreateRNNDescriptor(Rnn**);
Status cudnnDestroyRNNDescriptor(Rnn*);
Status cudnnSetRNNDescriptor_v8(Rnn*, int, int, int, int, int, DataType, DataType, int, int32_t, int32_t,
                                int32_t, int32_t, void*, uint32_t);
Status cudnnGetRNNWeightSpaceSize(Context*, const Rnn*, size_t*);
Status cudnnGetRNNWeightParams(Context*, const Rnn*, int32_t, size_t, const void*, int32_t, Tensor*, void**,
                               Tensor*, void**);
}

namespace {

/// Builds graphs as cudnn_frontend does.
class Graph {
  public:
    Graph() { EXPECT_EQ(cudnnCreate(&handle), success); }
    ~Graph() {
        for (BackendHandle* descriptor : all) cudnnBackendDestroyDescriptor(descriptor);
        cudnnDestroy(handle);
    }
    BackendHandle* make(Kind kind) {
        BackendHandle* descriptor = nullptr;
        EXPECT_EQ(cudnnBackendCreateDescriptor(static_cast<int>(kind), &descriptor), success);
        all.push_back(descriptor);
        return descriptor;
    }
    static void set(BackendHandle* d, int name, std::vector<int64_t> values) {
        EXPECT_EQ(cudnnBackendSetAttribute(d, name, type::int64, static_cast<int64_t>(values.size()),
                                           values.data()),
                  success);
    }
    static void set(BackendHandle* d, int name, int value_type, int value) {
        EXPECT_EQ(cudnnBackendSetAttribute(d, name, value_type, 1, &value), success);
    }
    static void link(BackendHandle* d, int name, std::vector<BackendHandle*> children) {
        EXPECT_EQ(cudnnBackendSetAttribute(d, name, type::descriptor, static_cast<int64_t>(children.size()),
                                           children.data()),
                  success);
    }
    static BackendHandle* done(BackendHandle* d) {
        EXPECT_EQ(cudnnBackendFinalize(d), success);
        return d;
    }
    BackendHandle* tensor(std::vector<int64_t> dimensions, bool is_virtual = false) {
        BackendHandle* d = make(Kind::tensor);
        std::vector<int64_t> strides(dimensions.size(), 1);
        set(d, attribute::tensor_type, type::data_type, static_cast<int>(DataType::bf16));
        set(d, attribute::tensor_dimensions, dimensions);
        set(d, attribute::tensor_strides, strides);
        set(d, attribute::tensor_uid, {++uid});
        bool flag = is_virtual;
        EXPECT_EQ(cudnnBackendSetAttribute(d, attribute::tensor_virtual, type::boolean, 1, &flag), success);
        if (!is_virtual) memory.push_back(uid);
        return done(d);
    }
    void product(BackendHandle* a, BackendHandle* b, BackendHandle* c) {
        BackendHandle* op = make(Kind::op_matmul);
        link(op, attribute::op_matmul_a, {a});
        link(op, attribute::op_matmul_b, {b});
        link(op, attribute::op_matmul_c, {c});
        operations.push_back(done(op));
    }
    void pointwise(int mode, BackendHandle* x, BackendHandle* b, BackendHandle* y, int64_t axis = -1) {
        BackendHandle* pointwise = make(Kind::pointwise);
        set(pointwise, attribute::pointwise_mode, 14, mode);
        if (axis >= 0) set(pointwise, attribute::pointwise_axis, {axis});
        done(pointwise);
        BackendHandle* op = make(Kind::op_pointwise);
        link(op, attribute::op_pointwise_descriptor, {pointwise});
        link(op, attribute::op_pointwise_x, {x});
        if (b) link(op, attribute::op_pointwise_b, {b});
        link(op, attribute::op_pointwise_y, {y});
        operations.push_back(done(op));
    }
    /// Graph, heuristics, configuration, plan, execution.
    void run() {
        BackendHandle* graph = make(Kind::graph);
        link(graph, attribute::graph_operations, operations);
        done(graph);
        BackendHandle* heuristics = make(Kind::heuristics);
        link(heuristics, attribute::heuristics_graph, {graph});
        done(heuristics);
        int64_t count = 0;
        EXPECT_EQ(cudnnBackendGetAttribute(heuristics, attribute::heuristics_results, type::descriptor, 0,
                                           &count, nullptr),
                  success);
        EXPECT_EQ(count, 1);
        BackendHandle* config = make(Kind::engine_config);
        EXPECT_EQ(cudnnBackendGetAttribute(heuristics, attribute::heuristics_results, type::descriptor, 1,
                                           &count, &config),
                  success);
        BackendHandle* engine = make(Kind::engine);
        EXPECT_EQ(
            cudnnBackendGetAttribute(config, attribute::config_engine, type::descriptor, 1, &count, &engine),
            success);
        int64_t index = -1;
        EXPECT_EQ(cudnnBackendGetAttribute(engine, attribute::engine_index, type::int64, 1, &count, &index),
                  success);
        EXPECT_EQ(index, 0);
        BackendHandle* plan = make(Kind::plan);
        link(plan, attribute::plan_config, {config});
        done(plan);
        int64_t workspace = -1;
        EXPECT_EQ(
            cudnnBackendGetAttribute(plan, attribute::plan_workspace, type::int64, 1, &count, &workspace),
            success);
        EXPECT_EQ(workspace, 0);
        BackendHandle* pack = make(Kind::variant_pack);
        std::vector<void*> pointers(memory.size(), &uid);
        set(pack, attribute::pack_uids, memory);
        EXPECT_EQ(cudnnBackendSetAttribute(pack, attribute::pack_pointers, type::pointer,
                                           static_cast<int64_t>(pointers.size()), pointers.data()),
                  success);
        done(pack);
        EXPECT_EQ(cudnnBackendExecute(nullptr, plan, pack), not_initialized);
        EXPECT_EQ(cudnnBackendExecute(handle, plan, pack), success);
    }

    Context* handle = nullptr;
    std::vector<BackendHandle*> all, operations;
    std::vector<int64_t> memory;
    int64_t uid = 0;
};

TEST(Cudnn, IsTheVersionThatTorchAsksFor) {
    EXPECT_EQ(cudnnGetVersion(), 91900u);
    int value = 0;
    for (auto [property, expected] : {std::pair{0, 9}, {1, 19}, {2, 0}}) {
        EXPECT_EQ(cudnnGetProperty(property, &value), success);
        EXPECT_EQ(value, expected);
    }
    EXPECT_STREQ(cudnnGetErrorString(3000), "CUDNN_STATUS_NOT_SUPPORTED");
}

TEST(Backend, AttributesAreReadBackAfterFinalizing) {
    Graph graph;
    BackendHandle* d = graph.make(Kind::tensor);
    std::vector<int64_t> dimensions{8, 16, 1024, 64}, read(4);
    int64_t count = 0;
    EXPECT_EQ(cudnnBackendFinalize(d), bad_param);  // dimensions missing
    Graph::set(d, attribute::tensor_dimensions, dimensions);
    EXPECT_EQ(cudnnBackendGetAttribute(d, attribute::tensor_dimensions, type::int64, 4, &count, read.data()),
              not_initialized);
    Graph::set(d, attribute::tensor_strides, dimensions);
    Graph::set(d, attribute::tensor_type, type::data_type, 9);
    Graph::set(d, attribute::tensor_uid, {5});
    Graph::done(d);
    EXPECT_EQ(cudnnBackendGetAttribute(d, attribute::tensor_dimensions, type::int64, 4, &count, read.data()),
              success);
    EXPECT_EQ(count, 4);
    EXPECT_EQ(read, dimensions);
    EXPECT_EQ(cudnnBackendGetAttribute(d, attribute::tensor_dimensions, type::fp32, 4, &count, read.data()),
              bad_param_attribute_type);
    // What the real cuDNN 9.19 answers (tried with its library, which needs no GPU for descriptors):
    EXPECT_EQ(cudnnBackendGetAttribute(d, attribute::tensor_dimensions, type::int64, 2, &count, read.data()),
              success);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(cudnnBackendGetAttribute(d, attribute::tensor_dimensions, type::int64, 0, &count, nullptr),
              success);
    EXPECT_EQ(count, 4);
    bool by_value = true;
    EXPECT_EQ(cudnnBackendGetAttribute(d, attribute::tensor_by_value, type::boolean, 1, &count, &by_value),
              success);
    EXPECT_FALSE(by_value);
    EXPECT_EQ(cudnnBackendGetAttribute(d, attribute::graph_operations, type::int64, 1, &count, read.data()),
              bad_param);
    EXPECT_EQ(cudnnBackendSetAttribute(d, attribute::tensor_uid, type::int64, 1, dimensions.data()),
              bad_param);
    EXPECT_EQ(cudnnBackendFinalize(d), bad_param);  // twice
    BackendHandle* other = graph.make(Kind::tensor);
    EXPECT_EQ(cudnnBackendSetAttribute(other, attribute::tensor_strides, type::fp32, 4, read.data()),
              bad_param_attribute_type);
    EXPECT_EQ(cudnnBackendSetAttribute(other, attribute::graph_operations, type::int64, 4, read.data()),
              bad_param);
    EXPECT_EQ(cudnnBackendSetAttribute(other, attribute::tensor_strides, type::int64, 4, nullptr), bad_param);
    EXPECT_EQ(cudnnBackendDestroyDescriptor(nullptr), bad_param_null_pointer);
}

TEST(Backend, NamesAttentionAndItsCausalMask) {
    Recorder recorder;
    Graph graph;
    BackendHandle* q = graph.tensor({8, 16, 1024, 64});
    BackendHandle* k = graph.tensor({8, 16, 64, 2048});  // transposed, as cudnn_frontend gives it
    BackendHandle* v = graph.tensor({8, 16, 2048, 32});
    BackendHandle* o = graph.tensor({8, 16, 1024, 32});
    std::vector<int64_t> scores{8, 16, 1024, 2048};
    std::vector<BackendHandle*> s;
    for (int i = 0; i < 7; ++i) s.push_back(graph.tensor(scores, true));
    graph.product(q, k, s[0]);
    graph.pointwise(501, s[0], nullptr, s[1], 2);  // row index
    graph.pointwise(501, s[0], nullptr, s[2], 3);  // column index
    graph.pointwise(303, s[1], s[2], s[3]);        // row >= column
    graph.pointwise(601, s[0], s[0], s[4]);
    graph.pointwise(13, s[4], nullptr, s[5]);
    graph.product(s[5], v, o);
    graph.run();
    ASSERT_EQ(recorder.calls.size(), 1u);
    const RecordedCall& call = recorder.calls[0];
    EXPECT_EQ(call.library, "cuDNN");
    EXPECT_EQ(call.function, "cudnnBackendExecute");
    EXPECT_EQ(call.operation, "attention_forward");
    EXPECT_EQ(call["shape_q"], "[8,16,1024,64]");
    EXPECT_EQ(call["shape_k"], "[8,16,2048,64]");
    EXPECT_EQ(call["shape_v"], "[8,16,2048,32]");
    EXPECT_EQ(call["shape_o"], "[8,16,1024,32]");
    EXPECT_EQ(call["type"], "bf16");
    EXPECT_EQ(call["causal"], "1");
    EXPECT_EQ(call["mask"], "none");
}

TEST(Backend, PaddingIsNotCausal) {
    Recorder recorder;
    Graph graph;
    BackendHandle* q = graph.tensor({1, 1, 4, 8});
    BackendHandle* k = graph.tensor({1, 1, 8, 4});
    BackendHandle* v = graph.tensor({1, 1, 4, 8});
    BackendHandle* o = graph.tensor({1, 1, 4, 8});
    BackendHandle* lengths = graph.tensor({1, 1, 1, 1});
    BackendHandle* bias = graph.tensor({1, 1, 4, 4});
    std::vector<BackendHandle*> s;
    for (int i = 0; i < 6; ++i) s.push_back(graph.tensor({1, 1, 4, 4}, true));
    graph.product(q, k, s[0]);
    graph.pointwise(0, s[0], bias, s[1]);
    graph.pointwise(501, s[1], nullptr, s[2], 3);
    graph.pointwise(304, s[2], lengths, s[3]);  // column < length
    graph.pointwise(13, s[1], nullptr, s[4]);
    graph.product(s[4], v, o);
    graph.run();
    EXPECT_EQ(recorder.calls.at(0)["causal"], "0");
    EXPECT_EQ(recorder.calls.at(0)["mask"], "additive");
}

TEST(Backend, NamesAConvolution) {
    Recorder recorder;
    Graph graph;
    BackendHandle* convolution = graph.make(Kind::convolution);
    Graph::set(convolution, attribute::convolution_padding, {1, 1});
    Graph::set(convolution, attribute::convolution_strides, {2, 2});
    Graph::set(convolution, attribute::convolution_dilations, {1, 1});
    Graph::done(convolution);
    BackendHandle* op = graph.make(Kind::op_convolution_forward);
    Graph::link(op, 704, {graph.tensor({4, 3, 224, 224})});
    Graph::link(op, 703, {graph.tensor({64, 3, 3, 3})});
    Graph::link(op, 705, {graph.tensor({4, 64, 112, 112})});
    Graph::link(op, 702, {convolution});
    graph.operations.push_back(Graph::done(op));
    graph.run();
    const RecordedCall& call = recorder.calls.at(0);
    EXPECT_EQ(call.operation, "convolution_forward");
    EXPECT_EQ(call["shape_x"], "[4,3,224,224]");
    EXPECT_EQ(call["shape_w"], "[64,3,3,3]");
    EXPECT_EQ(call["stride"], "[2,2]");
}

TEST(Rnn, ParametersLieOneAfterTheOther) {
    // Two-layer bidirectional LSTM, input 10, hidden 20. cuDNN reference: 8 matrices and 8 biases for each
    // pseudo-layer.
    Graph graph;
    Rnn* rnn = nullptr;
    ASSERT_EQ(cudnnCreateRNNDescriptor(&rnn), success);
    ASSERT_EQ(cudnnSetRNNDescriptor_v8(rnn, 0, 2, 2, 1, 0, DataType::fp32, DataType::fp32, 0, 10, 20, 20, 2,
                                       nullptr, 0),
              success);
    size_t bytes = 0;
    ASSERT_EQ(cudnnGetRNNWeightSpaceSize(graph.handle, rnn, &bytes), success);
    size_t expected = 0;
    for (int layer = 0; layer < 2; ++layer)
        for (int direction = 0; direction < 2; ++direction)
            expected += 4 * 20 * ((layer == 0 ? 10 : 40) + 20) + 8 * 20;
    EXPECT_EQ(bytes, expected * sizeof(float));
    std::vector<float> weights(bytes / sizeof(float));
    Tensor *matrix = nullptr, *bias = nullptr;
    cudnnCreateTensorDescriptor(&matrix);
    cudnnCreateTensorDescriptor(&bias);
    size_t covered = 0;
    for (bool biases : {false, true})
        for (int layer = 0; layer < 4; ++layer)
            for (int gate = 0; gate < 8; ++gate) {
                void *at = nullptr, *bias_at = nullptr;
                ASSERT_EQ(cudnnGetRNNWeightParams(graph.handle, rnn, layer, bytes, weights.data(), gate,
                                                  matrix, &at, bias, &bias_at),
                          success);
                int dimensions[3], strides[3], rank = 0;
                DataType type;
                ASSERT_EQ(
                    cudnnGetTensorNdDescriptor(biases ? bias : matrix, 3, &type, &rank, dimensions, strides),
                    success);
                EXPECT_EQ(rank, 3);
                EXPECT_EQ(dimensions[1], 20);
                if (!biases) {
                    EXPECT_EQ(dimensions[2], gate >= 4 ? 20 : layer < 2 ? 10 : 40);
                }
                EXPECT_EQ(static_cast<float*>(biases ? bias_at : at) - weights.data(),
                          static_cast<ptrdiff_t>(covered));
                covered += static_cast<size_t>(dimensions[0]) * static_cast<size_t>(dimensions[1]) *
                           static_cast<size_t>(dimensions[2]);
            }
    EXPECT_EQ(covered, weights.size());
    cudnnDestroyTensorDescriptor(matrix);
    cudnnDestroyTensorDescriptor(bias);
    cudnnDestroyRNNDescriptor(rnn);
}

}  // namespace
