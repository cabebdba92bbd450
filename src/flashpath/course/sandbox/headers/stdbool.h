// C++ has bool, true and false of its own.
#pragma once
