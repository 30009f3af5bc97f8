// SPDX-License-Identifier: Apache-2.0
// libtorch's MNIST example on made digits: 60000 in batches of 64 are 938 steps. The program prints
// its count of steps and the nanoseconds of its own timers, without the first step's: backward, and
// the optimizer.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kRows = 60000;

struct Digits : torch::data::datasets::Dataset<Digits> {
	torch::data::Example<> get(size_t index) override
	{
		return {rows[static_cast<int64_t>(index)], torch::tensor(int64_t(index % 10))};
	}
	torch::optional<size_t> size() const override { return kRows; }
	torch::Tensor rows = torch::rand({kRows, 16});
};

struct Net : torch::nn::Module {
	Net() { linear = register_module("linear", torch::nn::Linear(16, 10)); }
	torch::Tensor forward(torch::Tensor x)
	{
		return torch::log_softmax(linear->forward(x), 1);
	}
	torch::nn::Linear linear{nullptr};
};

long since(Clock::time_point begin)
{
	return static_cast<long>(
		std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
}

} // namespace

extern "C" int train_digits(void)
{
	Net model;
	torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.01));
	auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
		Digits().map(torch::data::transforms::Stack<>()), 64);
	long steps = 0, backward = 0, stepped = 0;

	torch::set_num_threads(1);
	for (auto &batch : *loader) {
		optimizer.zero_grad();
		auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
		auto begin = Clock::now();
		loss.backward();
		backward += steps ? since(begin) : 0;
		begin = Clock::now();
		optimizer.step();
		stepped += steps++ ? since(begin) : 0;
	}
	std::printf("%ld %ld %ld\n", steps, backward, stepped);
	return 0;
}

#ifndef PLUGIN
int main()
{
	return train_digits();
}
#endif
